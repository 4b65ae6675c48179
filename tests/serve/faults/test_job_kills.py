"""Jobs of a server that is killed: what was read of them stays, and none is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.serve.faults.job_kills import kill_while_jobs_run


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a server in /proc")
@pytest.mark.parametrize("worker", [False, True])
def test_no_job_is_lost(tmp_path: Path, worker: bool) -> None:
    done = kill_while_jobs_run(tmp_path, seed=7, worker=worker)
    assert done.faults == [] and done.accepted > 0
