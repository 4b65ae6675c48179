"""What commands that call a service have in common: its URL, and who asks."""

from __future__ import annotations

import os
from pathlib import Path

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.json_files import load_text


def read_token(path: Path | None) -> str | None:
    """Return the token of a file: its first line, or its last word if the line has several.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, or it begins with an empty line.
    """
    if path is None:
        return None
    words = (load_text(path, "text").splitlines() or [""])[0].split()
    if not words:
        raise InvalidInstanceError([Fault("line 1", MISSING, "must be a token")], os.fspath(path))
    return words[-1]
