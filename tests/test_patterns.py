"""Every regular expression of the library, on texts that are made to keep it busy."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dlopt

SEARCHED = {
    ("dlopt.json_files", "_NUMBERS"): "search",
    ("dlopt.batch.experiment", "_FAMILY"): "search",
    ("dlopt.formats.swf", "_KEY"): "match",
    ("dlopt.formats.swf", "_SIZE"): "match",
    ("dlopt.formats.dot_parser", "_TOKEN"): "match",
}
"""How a pattern is used; all others by ``fullmatch``."""
HEADS = ("", "[\n", '"', "/*", "a:", "a  :", "1", "-", "1/", "[\n 1", "a:literal", "[::1]", "task ")
PIECES = (
    *(" ", "\n", "a", "1", "0", ".", "-", ",", '"', "\\", "/", "*", "#", "(", "[", "{", "<", ":"),
    *("1 ", "a ", "1,", '\\"', "/*", "*/", "//", "a:", "a-", "-a", "1/", "1e", "1.", "1,\n", "[\n"),
    *('"1/1",\n', " \n", "[\n1,\n", "é", "--family a", ": a", ":literal", "-1", "/* */"),
)
TAILS = ("", "x", "!", '"', "\n]")
LENGTH = 400
"""Long enough for what is quadratic to take milliseconds, which what is linear does not."""


def patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    for found in pkgutil.walk_packages(dlopt.__path__, "dlopt."):
        if found.name.startswith("dlopt.models") or found.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError:  # of an extra that is not installed
            continue
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield found.name, name, value


PATTERNS = {(module, name): pattern for module, name, pattern in patterns()}


def longest(run: Callable[[str], Any], size: int, texts: list[tuple[str, str, str]]) -> Any:
    """Return the text of so many characters that takes longest, and its time."""

    def took(text: tuple[str, str, str]) -> float:
        head, piece, tail = text
        made = head + piece * (size // len(piece)) + tail
        begin = time.process_time()
        run(made)
        return time.process_time() - begin

    return max(((took(text), text) for text in texts), key=lambda pair: pair[0])


@pytest.mark.parametrize("where", PATTERNS, ids=".".join)
def test_no_pattern_is_more_than_linear(where: tuple[str, str]) -> None:
    """Of the texts that take longest, one fifty times as long takes no more than a moment.

    What is quadratic takes seconds at 20,000 characters, and what is linear less than 10 ms.
    """
    run = getattr(PATTERNS[where], SEARCHED.get(where, "fullmatch"))
    texts = [(head, piece, tail) for head in HEADS for piece in PIECES for tail in TAILS]
    _, worst = longest(run, LENGTH, texts)
    suspects = [worst]
    for tail in TAILS:
        suspects.append((worst[0], worst[1], tail))
    took, text = longest(run, 20_000, suspects)
    assert took < 0.5, text


def test_what_is_quadratic_is_seen() -> None:
    """The pattern that once read the remarks of a task graph: two runs of blanks, side by side."""
    run = re.compile(r"#\s*(\w[^:]*?)\s*:\s*(.*?)\s*").fullmatch
    texts = [(head, piece, tail) for head in ("", "# a: x") for piece in PIECES for tail in TAILS]
    _, worst = longest(run, LENGTH, texts)
    took, _ = longest(run, 20_000, [worst])
    assert took > 0.5
