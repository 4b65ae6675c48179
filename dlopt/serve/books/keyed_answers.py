"""The answers of a book to calls with idempotency keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dlopt.serve.books.book_log import StoredAnswer


class KeyedAnswers:
    """What is known of the idempotency keys of a book without asking its log.

    The log has the answers to all keys. In memory are those that may not be written yet, and what
    the log said of keys whose calls are about to be applied.

    Examples
    --------
    >>> answers = KeyedAnswers()
    >>> answers.learn(["a", "b"], {"a": StoredAnswer("submit", 7, "{}")})
    >>> answers.unknown(["a", "b", "c"])
    ['c']
    >>> answers.take("a").version, answers.take("b"), answers.unknown(["a", "b"])
    (7, None, ['a', 'b'])
    """

    def __init__(self) -> None:
        self._unwritten: dict[str, StoredAnswer] = {}
        self._logged: dict[str, StoredAnswer | None] = {}

    def add(self, key: str, answer: StoredAnswer) -> None:
        """Add the answer of a call that has changed the book."""
        self._unwritten[key] = answer

    def forget_written(self, version: int) -> None:
        """Forget the answers of changes up to a version, which are in the log."""
        while self._unwritten:
            key, answer = next(iter(self._unwritten.items()))
            if answer.version > version:
                break
            del self._unwritten[key]

    def unknown(self, keys: Iterable[str]) -> list[str]:
        """Return the keys of which only the log knows whether they were used."""
        return [key for key in keys if key not in self._unwritten and key not in self._logged]

    def learn(self, keys: Iterable[str], found: Mapping[str, StoredAnswer]) -> None:
        """Take over what the log says of some keys."""
        self._logged |= {key: found.get(key) for key in keys}

    def take(self, key: str) -> StoredAnswer | None:
        """Return the answer to a call, if there is one; what the log said of its key is used up."""
        logged = self._logged.pop(key, None)
        return self._unwritten.get(key, logged)
