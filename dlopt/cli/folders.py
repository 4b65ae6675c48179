"""Folders that a command is to write to: looked at before it does its work, not after."""

from __future__ import annotations

import os
from pathlib import Path

from dlopt.errors import NotApplicableError


def refuse_unwritable(folder: Path) -> None:
    """Raise if files cannot be written to a folder, which may have to be made.

    Raises
    ------
    NotApplicableError
        If it is no folder, cannot be made, or must not be written to.
    """
    if folder.exists() and not folder.is_dir():
        raise NotApplicableError(f"cannot write to {folder}: it is no folder")
    home = folder if folder.exists() else folder.resolve().parent
    if not home.is_dir():
        raise NotApplicableError(f"cannot make {folder}: its folder does not exist")
    if not os.access(home, os.W_OK | os.X_OK):
        raise NotApplicableError(f"cannot write to {home}: no permission")
