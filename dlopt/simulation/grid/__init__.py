"""A grid of LANs: task graphs arrive, LANs bid for them, nodes run their subtasks and fail.

`simulate_grid` runs tasks over a grid that is drawn, read from a file, or the machines of a dag
instance; its trace can be held against `dlopt.problems.dag.violations_executed`.

Source: Chen 2001; what it prints otherwise, and other readings of it, are options of a `Policy`.
"""

from dlopt.simulation.grid.external import Credibility
from dlopt.simulation.grid.files import read_failures, read_grid, write_grid
from dlopt.simulation.grid.metrics import MEASURES, Fate, Outcome
from dlopt.simulation.grid.monitor import Tally
from dlopt.simulation.grid.policy import (
    CALM,
    EXTENSIONS,
    LITERAL,
    PRINTED,
    READINGS,
    Hazards,
    Policy,
    variant,
)
from dlopt.simulation.grid.random_topologies import TOPOLOGIES
from dlopt.simulation.grid.routes import ROUTE_KINDS, violations_routes
from dlopt.simulation.grid.run import GridRun, simulate_grid
from dlopt.simulation.grid.topology import Built, Grid, Node, Router, Site, Wire
from dlopt.simulation.grid.workload import Workload

__all__ = [
    "CALM",
    "EXTENSIONS",
    "LITERAL",
    "MEASURES",
    "PRINTED",
    "READINGS",
    "ROUTE_KINDS",
    "TOPOLOGIES",
    "Built",
    "Credibility",
    "Fate",
    "Grid",
    "GridRun",
    "Hazards",
    "Node",
    "Outcome",
    "Policy",
    "Router",
    "Site",
    "Tally",
    "Wire",
    "Workload",
    "read_failures",
    "read_grid",
    "simulate_grid",
    "variant",
    "violations_routes",
    "write_grid",
]
