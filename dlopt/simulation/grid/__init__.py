"""Simulation of a grid of LANs: task graphs arrive, LANs bid for them, and their nodes may fail.

`simulate_grid` runs tasks on a grid that is drawn at random, read from a file, or given by the
machines of a dag instance; its trace can be checked by `dlopt.problems.dag.violations_executed`.

Source: Chen 2001; what the thesis prints differently, and other readings of it, are options of a
`Policy`.
"""

from dlopt.simulation.grid.external_scheduler import Credibility
from dlopt.simulation.grid.grid_files import read_failures, read_grid, write_grid
from dlopt.simulation.grid.metrics import MEASURES, GridOutcome, JobOutcome
from dlopt.simulation.grid.monitor import PeriodCounts
from dlopt.simulation.grid.policy import (
    EXTENSIONS,
    LITERAL,
    NO_FAILURES,
    PRINTED,
    READINGS,
    FailureModel,
    Policy,
    variant,
)
from dlopt.simulation.grid.random_topologies import TOPOLOGIES
from dlopt.simulation.grid.routes import ROUTE_KINDS, violations_routes
from dlopt.simulation.grid.run import GridRun, simulate_grid
from dlopt.simulation.grid.topology import BuiltGrid, Grid, LanSite, Node, Router, WanLink
from dlopt.simulation.grid.workload import Workload

__all__ = [
    "EXTENSIONS",
    "LITERAL",
    "MEASURES",
    "NO_FAILURES",
    "PRINTED",
    "READINGS",
    "ROUTE_KINDS",
    "TOPOLOGIES",
    "BuiltGrid",
    "Credibility",
    "FailureModel",
    "Grid",
    "GridOutcome",
    "GridRun",
    "JobOutcome",
    "LanSite",
    "Node",
    "PeriodCounts",
    "Policy",
    "Router",
    "WanLink",
    "Workload",
    "read_failures",
    "read_grid",
    "simulate_grid",
    "variant",
    "violations_routes",
    "write_grid",
]
