"""The shipped instances, by name."""

from functools import cache
from pathlib import Path

from dlopt import io

FOLDER = Path(__file__).parents[3] / "instances" / "bag"


@cache
def stored(name):
    (file,) = FOLDER.rglob(f"{name}.json")
    return io.read(file, exact_numbers=True)
