"""The books of a store as a server finds them when it starts."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from dlopt.errors import described
from dlopt.serve.books.book_log import UnreadableBookError, book_names, load_book
from dlopt.serve.books.limits import BookLimits
from dlopt.serve.books.logged_book import LoggedBook
from dlopt.serve.errors import UnavailableError
from dlopt.serve.store import Store

_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class RestoredBooks:
    """The books of a store, and by name why others cannot be restored."""

    books: list[LoggedBook] = field(default_factory=list)
    unreadable: dict[str, UnreadableBookError] = field(default_factory=dict)


def restored_books(store: Store, limits: BookLimits) -> RestoredBooks:
    """Return all books that can be restored; why others cannot is logged, too.

    Raises
    ------
    UnavailableError
        If the store cannot be read.
    """
    found = RestoredBooks()
    for name in book_names(store):
        try:
            found.books.append(LoggedBook.replayed(load_book(store, name), limits))
        except UnavailableError:
            raise
        except UnreadableBookError as error:
            _LOGGER.error("book %s is not served: %s", name, error)
            found.unreadable[name] = error
        except Exception as error:  # whatever is wrong with one book, the others are served
            _LOGGER.exception("book %s is not served", name)
            reason = f"book {name} cannot be restored: {described(error)}"
            found.unreadable[name] = UnreadableBookError(reason)
    return found
