"""Workloads of one's own, in a module that other processes import quickly."""

from __future__ import annotations

import os
import sys

from dlopt.generation.paper_workloads import Workload
from dlopt.problems.cluster import Cluster


def two_tasks(*, seed: int, load: float = 2.0) -> Workload:
    """Return a workload that knows no system load."""
    return Workload(Cluster(2, 1, 3), (0.0, 1.0), (load, load), (9.0 + seed, 9.0), horizon=10.0)


def quitting(*, seed: int) -> Workload:
    """End the program as if all were well."""
    sys.exit(0)


def fatal(*, seed: int) -> Workload:
    """End the process."""
    os._exit(3)
