"""A certificate over spans around reservations with a row of each kind, and a false row of each."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from tests.written_certificates import Written, accepted, refused

NODES_OF_GROUP_1 = "2 x_0_1_0_0_1 2 x_0_1_0_1_1 2 x_0_1_1_1_1 -1 y_0_1_0_0_1 -1 y_0_1_0_1_1"
CHANNEL = "1 x_0_0_0_1_1 1 x_0_0_1_1_1 1 x_0_1_0_1_1 1 x_0_1_1_1_1 -1 y_0_0_0_1_1 -1 y_0_1_0_1_1"
HONEST_ROWS = {
    "accepted": "q_0 L 1: 1 q_0",
    "mandatory": "q_1 G 1: 1 q_1",
    "nodes of a group": "h_1_0 L 1: 1 h_1_0",
    "reserved": "reserved_1 G 0: 1 h_1_0 1 h_1_1 -1 q_1",
    "conflict": "conflict_0 L 1: 1 q_0 1 q_2",
    "chunks": "chunks_0_0_1_1 L 0: 1 n_0_0_1_1_1 -2 z_0",
    "chunks of a span": "n_0_0_1_1_1 L 2: 1 n_0_0_1_1_1",
    "channel": f"channel_1 L 1: {CHANNEL} 1/2 q_0 1/2 q_2",
    "sending": "sending_1 L 1: 1 n_0_0_0_1_1 1 n_0_1_0_1_1 1 q_0",
    "nodes": f"nodes_1_1 L 1: {NODES_OF_GROUP_1} 1 q_0 1 h_1_1 1/2 q_2",
    "busy": "busy_1_1 L 1: 1 n_0_1_0_0_1 1 n_0_1_0_1_1 1 q_0 1 h_1_1",
    "full": "full_0 L 2: 1 z_0 1 q_0 1 q_3",
}
FORGED_ROWS = {
    "accepted": "q_0 L 0: 1 q_0",
    "mandatory": "q_0 G 1: 1 q_0",
    "nodes of a group": "h_1_0 L 0: 1 h_1_0",
    "reserved": "reserved_1 G 0: 1 h_1_0 1 h_1_1 -2 q_1",
    "conflict": "conflict_0 L 1: 1 q_0 1 q_1",
    "chunks": "chunks_0_0_1_1 L 0: 1 n_0_0_1_1_1 -1 z_0",
    "chunks of a span": "n_0_0_1_1_1 L 1: 1 n_0_0_1_1_1",
    "channel": f"channel_1 L 1: {CHANNEL} 1 q_0 1/2 q_2",
    "sending": "sending_1 L 1: 1 n_0_0_0_1_1 1 n_0_1_0_1_1 1 q_0 1 q_1",
    "nodes": f"nodes_1_1 L 1: {NODES_OF_GROUP_1} 1 q_0 1 h_1_1 1 q_2",
    "busy": "busy_1_1 L 1: 1 n_0_1_0_0_1 1 n_0_1_0_1_1 1 q_0 1 h_1_1 1 q_2",
    "full": "full_0 L 2: 1 z_0 1 q_0 1 q_2",
}


def with_rows(rows: dict[str, str]) -> Written:
    """A task of load 1 from 0 to 2 on two nodes, and four reservations, the second is mandatory."""
    half = Fraction(1, 2)
    wanted = (
        Reservation("r", 0, 1, 4, io_end=1 + half, nodes=(1,)),
        Reservation("s", 0, 1, 2, mandatory=True),
        Reservation("u", 0, 1 + half, 3, io_end=2, nodes=(0, 1)),
        Reservation("v", 0, 0, 1, io_end=half),
    )
    spans = [f"{g}_{place}" for g in "01" for place in ("0_0_1", "0_1_1", "1_1_1")]
    reserved = [f"q_{r}" for r in range(4)]
    bounds = [f"{name}_L L 1: 1 {name}" for name in ("z_0", *reserved)]
    return Written(
        Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 2),), wanted),
        "accepted",
        "value of finished tasks: 0\ntime: 0 is 0, 1 is 1\nload: 1 is 1\nchunks: 1\n"
        "instants: 0 1 2 4\ngroups: 0 1",
        " ".join(["z_0", *reserved, "h_1_0 h_1_1", *(f"{x}_0_{s}" for s in spans for x in "nxy")]),
        "\n".join([*bounds, *rows.values()]),
        "G -5: OBJ | lin 5 0 -1 1 -1 2 -1 3 -1 4 -1",
        "range -5 inf",
        "-1 z_0 -1 q_0 -1 q_1 -1 q_2 -1 q_3",
        "hnxy",
        "per-stage",
    )


def test_an_honest_row_of_each_kind_is_accepted():
    accepted(with_rows(HONEST_ROWS), 5)


@pytest.mark.parametrize("kind", FORGED_ROWS)
def test_a_false_row_of_each_kind_is_refused(kind):
    row = FORGED_ROWS[kind]
    name = row.split()[0]
    forged = with_rows(HONEST_ROWS | {kind: row})
    refused(forged, f"{name}: it is no constraint", f"{name} does not hold")


def test_windows_of_one_chunk_do_not_hold_over_stages():
    """Two nodes with a chunk each receive 15/2 of 10 at the most, but more with two stages."""
    forged = Written(
        Instance(Cluster(2, 1, 1), (Task("a", 0, 8, 10),), (Reservation("r", 0, 5, 6),)),
        "accepted",
        "value of finished tasks: 0\ntime: 0 is 0, 1 is 1\nload: 1 is 1\nchunks: 1\n"
        "instants: 0 10\nnode groups: 0-1",
        "z_0 q_0 c_0_0_0",
        "cut0 L 15/2: 8 c_0_0_0\nz_0_L L 1: 1 z_0\nq_0_L L 1: 1 q_0",
        "G -2: OBJ | lin 2 1 -1 2 -1",
        "range -2 inf",
        "-1 z_0 -1 q_0",
        "c",
        "per-stage",
    )
    refused(forged, "its remark", "cut0 does not hold")
