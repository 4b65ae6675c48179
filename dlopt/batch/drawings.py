"""The files of plans that are drawn: what they are called, and which of them a page may hold."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from dlopt.batch.records import RunKey
from dlopt.errors import NotApplicableError

MOST_BYTES = 16 * 2**20
"""Larger files are no drawings."""
_MOST_LETTERS = 120
_SVG = re.compile(
    rb"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE svg[^>\[]*>\s*)?(<!--.*?-->\s*)*<svg[\s>/]", re.S
)


def file_name(key: RunKey, suffix: str = ".svg") -> str:
    """Return what the drawing or the certificate of a run is called, which no other run is.

    Examples
    --------
    >>> from dlopt.result import Limits
    >>> some = RunKey("iit", "ab12", "opr", "completion", Limits(), 0, (), "as-written", "1")
    >>> file_name(some).startswith("ab12_opr_completion_0_")
    True
    """
    words = [key.hash[:12], key.method, key.objective, str(key.seed)]
    words += [f"{name}-{value}" for name, value in key.options]
    name = re.sub(r"[^A-Za-z0-9_.+-]", "-", "_".join(words))[:_MOST_LETTERS]
    return f"{name}_{_digest(key)}{suffix}"


def _digest(key: RunKey) -> str:
    whole = tuple(getattr(key, name) for name in RunKey.__slots__)
    return hashlib.sha256(repr(whole).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def read_drawing(name: str, folders: Sequence[Path]) -> bytes:
    """Return the content of a drawing that a record names, from one of the folders of its batch.

    A file of records may come from others, and the page may go to others: nothing but a drawing,
    and nothing from elsewhere, gets into it.

    Parameters
    ----------
    name : str
        Relative to the first of the folders.
    folders : sequence of Path

    Raises
    ------
    NotApplicableError
        Why it is left out.
    """
    path = Path(os.path.normpath(folders[0] / name))
    root = next((folder for folder in folders if _is_below(path, folder)), None)
    if root is None or Path(name).is_absolute():
        raise NotApplicableError("outside the folder of the batch")
    if _resolved(path) != _resolved(root) / path.relative_to(root):
        raise NotApplicableError("reached by a link")
    data = _content(path)
    if not _SVG.match(data):
        raise NotApplicableError("no drawing")
    return data


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise NotApplicableError("no file") from error


def _is_below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and path != folder


def _content(path: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise NotApplicableError("no file") from error
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise NotApplicableError("no file")
        if state.st_size > MOST_BYTES:
            raise NotApplicableError(f"larger than {MOST_BYTES:,} bytes")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MOST_BYTES)
    finally:
        os.close(handle)
