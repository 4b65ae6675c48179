"""What may only become less: words, untyped values, lines, repetitions.

`ratchets.json` holds the counts of the day it was last written. `python -m
tests.architecture.ratchets` writes what there is now, wherever that is less.
"""

from __future__ import annotations

import pytest

from tests.architecture.measures import MEASURES
from tests.architecture.ratchets import ROOM_FOR_LINES, excess, stored


@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_it_did_not_become_more(measure: str) -> None:
    room = ROOM_FOR_LINES if measure == "lines" else 1
    assert not excess(MEASURES[measure](), stored().get(measure, {}), room)


def test_what_is_more_is_found() -> None:
    assert excess({"dlopt/cli": 4, "models/iit": 2}, {"dlopt/cli": 3}, 1) == {
        "dlopt/cli": "4 where 3 were allowed",
        "models/iit": "2 where 0 were allowed",
    }
    assert excess({"dlopt/cli": 103}, {"dlopt/cli": 100}, ROOM_FOR_LINES) == {}
    assert excess({"dlopt/cli": 104}, {"dlopt/cli": 100}, ROOM_FOR_LINES)
