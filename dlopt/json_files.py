"""JSON files: reading with clear faults, and writing that never leaves half a file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, Literal

from dlopt import arithmetic
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.input_files import load_bytes, not_utf8, path_name
from dlopt.temporary_files import Part

MOST_VALUES = 8_000_000
"""More values in a JSON file are taken for a mistake: as objects they take much more memory."""

_MOST_REPEATED = 1000

# A line end tells a list from a text that looks like one: no text in JSON has a line end.
_NUMBER = r'(?:-?\d[^\s,"]*|"-?\d+/\d+")'
_NUMBERS = re.compile(rf"\[\n\s*{_NUMBER}(?:,\n\s*{_NUMBER})*\n\s*\]")

# What is open already, under the names that Linux and macOS have for it.
_OPENED = re.compile(r"/dev/(?:stdout|stderr|fd/\d{1,9})|/proc/self/fd/\d{1,9}")


def to_text(data: Any) -> str:
    """Return JSON for people too: indented, with a list of numbers in one line.

    Examples
    --------
    >>> print(to_text({"load": 3, "ready_times": [0, 0.5, "1/3"]}), end="")
    {
     "load": 3,
     "ready_times": [0, 0.5, "1/3"]
    }
    """
    text = json.dumps(data, indent=1, allow_nan=False)
    return _NUMBERS.sub(lambda found: "[" + " ".join(found[0][1:-1].split()) + "]", text) + "\n"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the place of `path` once the block has ended well.

    Temporary files of writers that were killed are removed from the same folder.

    Raises
    ------
    NotApplicableError
        If the path cannot be written, or is none.
    """
    target = Path(os.path.realpath(path_name(path)))
    try:
        opened = _opened(path)
        if opened is not None:
            # A duplicate appends to what was written; opened by name, the file would be empty.
            # Its reader may have closed it, as `head` does.
            with contextlib.suppress(BrokenPipeError), os.fdopen(os.dup(opened), "wb") as file:
                yield file
            return
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with target.open("wb") as file:  # a device or a pipe has no old content to save
                yield file
            return
        part = Part(target)
    except OSError as error:
        raise NotApplicableError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(part.handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part.name, 0o666 & ~mask)
        os.replace(part.name, target)
    except OSError as error:
        raise NotApplicableError(f"cannot write {path}: {error.strerror}") from error
    finally:
        part.close()


def _opened(path: str | os.PathLike[str]) -> int | None:
    """Return the file descriptor that a path stands for, or None."""
    name = os.path.abspath(path)
    if _OPENED.fullmatch(name) is None:
        return None
    last = name.rpartition("/")[2]
    return {"stdout": 1, "stderr": 2}.get(last) or int(last)


def load_text(path: str | os.PathLike[str], kind: str) -> str:
    """Return the text of a file.

    Parameters
    ----------
    path : path-like
    kind : str
        What it should be, for the fault of one that is no text.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, it is too large, or it is no text.
    """
    data = load_bytes(path)
    try:
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise not_utf8(kind, error.start, os.fspath(path)) from error


def load_json(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> Any:
    """Return the data of a JSON file; a field that is given twice is a fault.

    Parameters
    ----------
    path : path-like
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, it is too large, or it is not valid JSON.
    """
    return parse_json(load_text(path, "JSON"), os.fspath(path), exact_numbers=exact_numbers)


def load_part(
    path: str | os.PathLike[str],
    part: Literal["instance", "result"],
    *,
    exact_numbers: bool = False,
) -> Any:
    """Return the same; of a file with an instance and a result of it, one of the two.

    Such a file is what is saved of a result that failed verification.
    """
    data = load_json(path, exact_numbers=exact_numbers)
    both = isinstance(data, dict) and data.keys() == {"instance", "result"}
    return data[part] if both else data


def parse_json(text: str, source: str | None = None, *, exact_numbers: bool = False) -> Any:
    """Return the data of a JSON text; a field that is given twice is a fault.

    Parameters
    ----------
    text : str
    source : str, optional
        What it was read from, for messages.
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell.

    Raises
    ------
    InvalidInstanceError
        If it has too many values, or is not valid JSON.

    Examples
    --------
    >>> parse_json('{"load": 0.5}', exact_numbers=True)
    {'load': Fraction(1, 2)}
    >>> parse_json('{"load": 1, "load": 2}')
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: load: is given twice
    """
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        fault = Fault("", f"more than {MOST_VALUES} values", "is too large a file")
        raise InvalidInstanceError([fault], source)
    repeated: list[tuple[dict[str, Any], str]] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = sorted(key for key, count in counts.items() if count > 1)
            repeated.extend((data, key) for key in twice)
        return data

    parse_float: Callable[[str], Fraction | float] = arithmetic.parse if exact_numbers else float
    try:
        data = json.loads(text, parse_float=parse_float, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        # Some messages end in a preposition, as in "Invalid control character at".
        cause = error.msg.removesuffix(" at").removesuffix(" starting")
        rule = f"is not valid JSON: {cause} in line {error.lineno}, column {error.colno}"
        raise InvalidInstanceError([Fault("", MISSING, rule)], source) from error
    except RecursionError as error:
        fault = Fault("", MISSING, "is not valid JSON: nested too deeply")
        raise InvalidInstanceError([fault], source) from error
    except ValueError as error:  # of an integer; a decimal is read whatever its length
        most = sys.get_int_max_str_digits()
        fault = Fault("", MISSING, f"has a number that is too long: more than {most} digits")
        raise InvalidInstanceError([fault], source) from error
    if repeated:
        del repeated[_MOST_REPEATED:]
        paths = _paths(data, {id(at) for at, _ in repeated})
        faults = [
            Fault(paths.get(id(at), "") + key, MISSING, "is given twice") for at, key in repeated
        ]
        raise InvalidInstanceError(faults, source)
    return data


def load_headed(
    path: str | os.PathLike[str],
    head: Mapping[str, object],
    faults_of: Callable[[dict[str, object]], Iterable[Fault]],
    *,
    exact_numbers: bool = False,
) -> dict[str, Any]:
    """Read a JSON object that says what it is, such as ``{"grid": "lans", "version": 1, ...}``.

    Parameters
    ----------
    path : path-like
    head : mapping
        The fields that say so, with their values.
    faults_of : callable
        Returns everything that is wrong with the other fields.
    exact_numbers : bool, default False
        As in `load_json`.

    Returns
    -------
    dict
        The other fields.

    Raises
    ------
    InvalidInstanceError
        With every fault; also if there is no such file, or it is no JSON object.
    """
    data = load_json(path, exact_numbers=exact_numbers)
    if not isinstance(data, Mapping):
        fault = Fault("", data, "must be a JSON object")
        raise InvalidInstanceError([fault], os.fspath(path), as_json=True)
    faults = []
    for key, wanted in head.items():
        given = data.get(key, MISSING)
        if type(given) is not type(wanted) or given != wanted:
            rule = "is missing" if given is MISSING else f"must be {wanted}"
            faults.append(Fault(key, given, rule))
    content = {key: value for key, value in data.items() if key not in head}
    faults += faults_of(content)
    if faults:
        raise InvalidInstanceError(faults, os.fspath(path), as_json=True)
    return content


def write_json(path: str | os.PathLike[str], data: object) -> None:
    """Write data to a JSON file, which is replaced as a whole.

    Raises
    ------
    NotApplicableError
        If the path cannot be written.
    """
    with replacing(path) as file:
        file.write(to_text(data).encode())


def _paths(data: Any, wanted: set[int]) -> dict[int, str]:
    """Return, of objects in JSON data by their identities, the paths that their fields begin with.

    Linear in the size of the data, to any depth: a path is put together only where it is wanted.
    """
    above: list[tuple[int, str]] = []  # of every object and list: the one it stands in, its key
    todo: list[tuple[Any, int, str]] = [(data, -1, "")]
    found: dict[int, str] = {}
    while todo:
        value, parent, key = todo.pop()
        number = len(above)
        above.append((parent, key))
        if isinstance(value, dict):
            if id(value) in wanted:
                found[id(value)] = _path(above, number)
            entries = [(inner, f".{name}") for name, inner in value.items()]
        else:
            entries = [(inner, f"[{index}]") for index, inner in enumerate(value)]
        todo += [(inner, number, key) for inner, key in entries if isinstance(inner, dict | list)]
    return found


def _path(above: list[tuple[int, str]], number: int) -> str:
    parts = []
    while number >= 0:
        number, key = above[number]
        parts.append(key)
    path = "".join(reversed(parts)).removeprefix(".")
    return path and f"{path}."
