"""Servers that are killed under load: what was acknowledged is there, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.serve.faults.kills import kill_under_load

KILLS = 2
"""`make soak` has 200."""


def test_what_was_acknowledged_outlives_the_server(tmp_path: Path) -> None:
    for seed in range(KILLS):  # on one store
        done = kill_under_load(tmp_path, seed)
        assert done.faults == []
        assert done.acknowledged <= done.records <= done.acknowledged + done.unknown
