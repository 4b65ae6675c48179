"""A certificate over sequences of chunks with a row of each kind, and a false row of each kind."""

from __future__ import annotations

import pytest

from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from tests.written_certificates import Written, accepted, refused

HONEST_ROWS = {
    "load": "load_0 G 0: 1 x_0 1 x_1 1 x_2 1 x_3 -3 z_0",
    "promised": "promised_0 G 1: 1 z_0",
    "present": "present_0 L 0: 1 p_0 -1 z_0",
    "next": "next_0 L 0: 1 p_1 -1 p_0",
    "chunk": "chunk_0 L 0: 1 x_0 -2 p_0",
    "start": "start_0 L 0: 1 p_0 -1 s_0",
    "due": "due_0 L 0: 1 s_0 2 x_0 -5 p_0",
    "pair": "pair_0_4 L 1: 1 p_0 1 p_4 -1 y_0_4 -1 y_4_0",
    "both": "both_0_4 L 0: 1 y_0_4 1 y_4_0 -1 p_0",
    "order": "order_0_4 L 0: 1 s_0 2 x_0 -5 p_0 -1 s_4 1 p_4 4 y_0_4",
    "window": "window_1 L 4: 2 x_0 2 x_1 2 x_4",
    "window of the channel": "window_2 L 4: 1 x_0 1 x_2 1 x_4",
    "equal": "equal_0_2 L 0: 1 p_2 -1 y_0_2",
}
FORGED_ROWS = {
    "load": "load_0 G 0: 1 x_0 1 x_1 1 x_2 1 x_3 -4 z_0",
    "promised": "promised_1 G 1: 1 z_1",
    "present": "present_0 L 0: 2 p_0 -1 z_0",
    "next": "next_1 L 0: 1 p_2 -1 p_1",
    "chunk": "chunk_0 L 0: 1 x_0 -1 p_0",
    "start": "start_0 L 0: 2 p_0 -1 s_0",
    "due": "due_0 L 0: 1 s_0 2 x_0 -4 p_0",
    "pair": "pair_0_4 L 0: 1 p_0 1 p_4 -1 y_0_4 -1 y_4_0",
    "both": "both_0_4 L 0: 2 y_0_4 1 y_4_0 -1 p_0",
    "order": "order_0_4 L 0: 1 s_0 2 x_0 -4 p_0 -1 s_4 1 p_4 3 y_0_4",
    "window": "window_1 L 3: 2 x_0 2 x_1 2 x_4",
    "window of the channel": "window_2 L 3: 1 x_0 1 x_2 1 x_4",
    "equal": "equal_1_3 L 0: 1 p_3 -1 y_1_3",
}


def with_rows(rows: dict[str, str]) -> Written:
    """Two tasks of load 3 from 1 to 5 on two nodes, with two chunks each; the first is promised."""
    return Written(
        Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 5), Task("b", 1, 3, 4)), now=1),
        "accepted",
        "value of finished tasks: 0\ntime: 0 is 0, 1 is 1\nload: 1 is 1\nchunks: 2",
        "z_0 z_1 p_0 p_1 p_2 p_3 p_4 x_0 x_1 x_2 x_3 x_4 s_0 s_4 y_0_4 y_4_0 y_0_2 y_1_3",
        "\n".join(["z_0_L L 1: 1 z_0", "z_1_L L 1: 1 z_1", *rows.values()]),
        "G -2: OBJ | lin 2 0 -1 1 -1",
        "range -2 inf",
        "-1 z_0 -1 z_1",
        "xs",
        "k",
        2,
    )


def test_an_honest_row_of_each_kind_is_accepted():
    accepted(with_rows(HONEST_ROWS), 2)


@pytest.mark.parametrize("kind", FORGED_ROWS)
def test_a_false_row_of_each_kind_is_refused(kind):
    row = FORGED_ROWS[kind]
    name = row.split()[0]
    forged = with_rows(HONEST_ROWS | {kind: row})
    refused(forged, f"{name}: it is no constraint", f"{name} does not hold")
