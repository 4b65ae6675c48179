"""Counts that may only fall, as a file: `python -m tests.architecture.ratchets` lowers them."""

from __future__ import annotations

import json

from tests.architecture.measures import MEASURES
from tests.instance_files import ROOT

FILE = ROOT / "tests" / "architecture" / "ratchets.json"
ROOM_FOR_LINES = 1.03
"""A part of the library may grow by 3 % before somebody decides that it may be larger."""


def stored() -> dict[str, dict[str, int]]:
    """Return the counts of the file."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def excess(now: dict[str, int], allowed: dict[str, int], room: float) -> dict[str, str]:
    """Return where more is found than was allowed, times the room that it has."""
    return {
        part: f"{number} where {allowed.get(part, 0)} were allowed"
        for part, number in now.items()
        if number > allowed.get(part, 0) * room
    }


def lower() -> None:
    """Write what there is now, where it is less than before; a new measure as it is."""
    before = stored()
    after = {}
    for name, measure in MEASURES.items():
        now = measure()
        old = before.get(name, now)
        after[name] = {part: min(now[part], old[part]) for part in now if part in old}
    FILE.write_text(json.dumps(after, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    lower()
