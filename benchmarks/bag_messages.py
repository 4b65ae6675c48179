"""How many messages GDS needs on the grid of its paper: ``python -m benchmarks.bag_messages``.

17 sites of 20 to 50 machines, as in figures 7 to 10; a load of 1 is 2,500 tasks.
"""

from __future__ import annotations

import statistics
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence

from benchmarks.papers.bag_runs import BASE
from dlopt.generation.bag import gds
from dlopt.heuristics.bag.gds import count_messages
from dlopt.heuristics.bag.messages import MessageCounts

TASKS = (1000, 1500, 2000, 2500, 3000)
HEADS = ("tasks", "GDS", "searches", "tickets", "moved", "tickets a search", "links a task")


def lines(tasks: Sequence[int], runs: int) -> Iterator[str]:
    """Yield a table: means over the runs, whose seeds are 0, 1, ...."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    for count in tasks:
        grids = [gds(tasks=count, load=count / BASE, seed=seed) for seed in range(runs)]
        for label, shuffles in (("with Shuffle", True), ("without", False)):
            found = [
                count_messages(grid, seed=seed, shuffles=shuffles)
                for seed, grid in enumerate(grids)
            ]
            yield f"| {count:,} | {label} | {' | '.join(_means(found))} |"


def _means(found: Sequence[MessageCounts]) -> Iterator[str]:
    searches, tickets, tasks, hops = (
        statistics.fmean(getattr(one, name) for one in found)
        for name in ("searches", "tickets", "tasks", "hops")
    )
    for mean in (searches, tickets, tasks):
        yield f"{mean:,.0f}"
    for top, bottom in ((tickets, searches), (hops, tasks)):
        yield f"{top / bottom:.2f}" if bottom else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = ArgumentParser(prog="python -m benchmarks.bag_messages", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="instances of each size")
    parser.add_argument("--tasks", type=int, nargs="+", default=TASKS)
    given = parser.parse_args(arguments)
    for line in lines(given.tasks, given.runs):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
