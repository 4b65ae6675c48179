"""Answers by idempotency key that are kept in memory until the log has them."""

from dlopt.serve.books.book_log import StoredAnswer
from dlopt.serve.books.keyed_answers import KeyedAnswers


def test_answers_are_known_until_they_are_written():
    answers = KeyedAnswers()
    stored = {name: StoredAnswer("request", version, "{}") for version, name in enumerate("abc")}
    for key, answer in stored.items():
        answers.add(key, answer)
    answers.forget_written(1)
    assert answers.unknown("abc") == ["a", "b"]
    assert answers.take("c") == answers.take("c") == stored["c"]


def test_what_the_log_says_is_used_once():
    answers = KeyedAnswers()
    answers.learn(["old", "new"], {"old": StoredAnswer("request", 7, "{}")})
    assert answers.unknown(["old", "new"]) == []
    assert answers.take("new") is None
    answers.add("new", StoredAnswer("request", 8, "{}"))
    answers.forget_written(8)
    assert answers.unknown(["new"]) == ["new"]  # else the answer of the log would not be asked for
