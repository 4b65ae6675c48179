"""Where the tests find the public data sets, which are too large to be kept here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "DLOPT_DATA"


def data_folder(name: str) -> Path:
    """Return the folder of a data set; skip the test, telling why, where there is none.

    Parameters
    ----------
    name : str
        Such as ``swf``: a folder within ``$DLOPT_DATA``, or else within ``shared/data`` beside
        the repository.
    """
    named = os.environ.get(VARIABLE)
    root = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    folder = root / name
    if not folder.is_dir():
        pytest.skip(f"no data set {name!r}: set {VARIABLE} to the folder that holds it")
    return folder
