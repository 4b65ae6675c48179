"""Random mutations of valid files: of their bytes, their tokens, or their JSON data."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

NUMBERS = (
    *(
        "0",
        "-0",
        "-0.0",
        "-1",
        "1",
        "2",
        "0.1",
        "1e-9",
        "1e-308",
        "5e-324",
        "1e16",
        "1e99",
        "1e308",
    ),
    *("-1e308", "1e309", "1e9999", "NaN", "Infinity", "-Infinity", "9007199254740993"),
    *("18446744073709551616", "9" * 400, "9" * 5000, "0." + "3" * 3000, "1e-9999", "1000000"),
    *('"1/0"', '"0/1"', '"1/3"', '"-1/3"', '"1e5"', '"nan"', f'"1/{"7" * 3000}"', "007", "+1"),
)
"""Numbers as JSON or another format may spell them, and some that are none."""

TEXTS = (
    *("", " ", "a", "\x00", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eright to left"),
    *("\u2028", "\x85", "line\nbreak", "\ud800", "[/red]", "[bold]", "é" * 50, "💥", "x" * 100_000),
    *("../../etc/passwd", "<script>", "%s%n", "1/0", "'", '"', "\\"),
)
"""Texts for names and for the values of fields."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 10**18, 10**400, 1e308, -1e308, 1e-308, float("nan")),
    *(float("inf"), "", "1/0", "1/3", [], {}, [[]], [None], {"": None}, [0, 0], [1, [2, [3]]]),
)
"""Values of every type that JSON has."""

PLAUSIBLE = (0, 1, 2, 3, 7, 0.5, 1e-12, 1e-6, 1e6, 1e12, 1e16, 3e50, 1e99, "1/3", "355/113")
"""Numbers that many a field takes, and that a solver or a formula may not bear."""

_TOKEN = re.compile(rb"-?\d[\d.eE+-]*|\w+|\s+|.", re.DOTALL)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return the content after one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        content = _once(content, rng)
    return content


def _once(content: bytes, rng: random.Random) -> bytes:
    if content[:1] in (b"{", b"[") and rng.random() < 0.7:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            pass  # an earlier change has made it something else
        else:
            return _of_data(data, rng)
    return rng.choice(_OF_TEXT)(content, rng)


# Text ----------------------------------------------------------------------------------------


def _bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content or b" ")
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _truncated(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _token(content: bytes, rng: random.Random) -> bytes:
    """Delete, double, swap or replace one token."""
    tokens = _TOKEN.findall(content[:200_000])
    if not tokens:
        return content
    k, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    kind = rng.randrange(4)
    if kind == 0:
        del tokens[k]
    elif kind == 1:
        tokens.insert(k, tokens[k])
    elif kind == 2:
        tokens[k], tokens[other] = tokens[other], tokens[k]
    else:
        tokens[k] = tokens[other]
    return b"".join(tokens)


def _number(content: bytes, rng: random.Random) -> bytes:
    found = list(_NUMBER.finditer(content[:200_000]))
    if not found:
        return content
    place = rng.choice(found)
    return content[: place.start()] + rng.choice(NUMBERS).encode() + content[place.end() :]


def _line(content: bytes, rng: random.Random) -> bytes:
    """Delete, double or swap a line, or join two."""
    lines = content.split(b"\n")
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[k]
    elif kind == 1:
        lines.insert(k, lines[k])
    elif kind == 2:
        lines[k], lines[other] = lines[other], lines[k]
    else:
        lines[k : k + 2] = [b"".join(lines[k : k + 2])]
    return b"\n".join(lines)


def _text(content: bytes, rng: random.Random) -> bytes:
    k = rng.randrange(len(content) + 1)
    text = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
    return content[:k] + text + content[k:]


def _long(content: bytes, rng: random.Random) -> bytes:
    """Insert one character, or a bracket, many times over."""
    k = rng.randrange(len(content) + 1)
    piece = rng.choice((b"[", b"{", b'{"a":', b"(", b"<", b" ", b"\n", b"0", b'"', b"\\", b"a "))
    return content[:k] + piece * rng.choice((1_000, 20_000, 100_000)) + content[k:]


def _encoded(content: bytes, rng: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-8-sig", "utf-32")))


_OF_TEXT: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_bytes, _truncated, _token, _token, _number, _number, _number, _line, _text, _long, _encoded),
)


# Data ----------------------------------------------------------------------------------------


def _of_data(data: Any, rng: random.Random) -> bytes:
    """Return JSON data with something changed at a place that is drawn among all."""
    whole = [data]
    places = list(_places(whole))
    container, key = rng.choice(places)
    kind = rng.randrange(8)
    value = container[key]
    numbers = [place for place in places if type(place[0][place[1]]) in (int, float)]
    if numbers and rng.random() < 0.4:
        container, key = rng.choice(numbers)
        container[key] = rng.choice(PLAUSIBLE)
        return _json(whole[0])
    if kind == 0 and container is not whole:
        del container[key]
    elif kind == 1:
        container[key] = rng.choice(VALUES)
    elif kind == 2:
        container[key] = rng.choice(TEXTS)
    elif kind == 3 and isinstance(container, dict):
        name = rng.choice((*TEXTS, *(str(name) for inner, name in places if inner is not whole)))
        container[name] = container.pop(key)
    elif kind == 4:
        other, at = rng.choice(places)
        container[key] = copy.deepcopy(other[at])
    elif kind == 5 and isinstance(value, list) and value:
        value.extend(copy.deepcopy(value[:1]) * rng.choice((1, 2, 20)))
    elif kind == 6:
        nested: Any = value
        for _ in range(rng.choice((1, 10, 500))):
            nested = [nested] if rng.random() < 0.5 else {"a": nested}
        container[key] = nested
    else:
        return _spelled(whole[0], container, key, rng)
    return _json(whole[0])


def _spelled(data: Any, container: Any, key: Any, rng: random.Random) -> bytes:
    """Put a number in the place of a value as it is spelled, which no Python number may be."""
    container[key] = "\x01number\x01"
    return _json(data).replace(b'"\\u0001number\\u0001"', rng.choice(NUMBERS).encode(), 1)


def _json(data: Any) -> bytes:
    try:
        return json.dumps(data).encode()
    except (ValueError, RecursionError):
        return b"[" * 5000


def _places(data: Any) -> Any:
    """Yield where values stand, as containers with keys or indices."""
    todo = [data]
    while todo:
        container = todo.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in list(items):
            yield container, key
            if isinstance(value, dict | list):
                todo.append(value)
