"""The table of what is proven of each instance, to be cited and to be compared with."""

from __future__ import annotations

import csv
import io as streams
import os
from collections.abc import Iterable

from dlopt import io
from dlopt.batch.metrics import goal_of
from dlopt.batch.records import Row
from dlopt.json_files import replacing
from dlopt.result import Objective, Status, Value

COLUMNS = (
    "problem",
    "instance",
    "hash",
    "objective",
    "plan_class",
    "status",
    "optimum",
    "value",
    "bound",
    "proof",
    "method",
    "solver",
    "solver_version",
    "dlopt",
)
"""`optimum` is empty where none is proven; then `value` is the best plan known and `bound` what
none is better than; `proof` says on whose word that stands, as in `Result.proof`. Levels of
lexicographic objectives are separated by a space."""


def baselines(rows: Iterable[Row]) -> list[dict[str, str]]:
    """Return the best answer of the exact methods for each instance, objective and plan class.

    Sorted by problem, instance and objective. Rows that say nothing, as of methods that failed,
    are passed over.

    Examples
    --------
    >>> from dlopt import read
    >>> from dlopt.batch.runs import solve_cell
    >>> from dlopt.batch.experiment import plan_cells
    >>> cells = plan_cells([read("instances/iit/three-nodes.json")], ["exact"]).cells
    >>> (line,) = baselines(solve_cell(cell).row for cell in cells)
    >>> line["instance"], line["plan_class"], line["optimum"]
    ('three-nodes', 'single', '39/8')
    """
    best: dict[tuple[str, ...], Row] = {}
    for row in rows:
        told = row.value is not None or row.bound is not None or row.status is Status.INFEASIBLE
        if row.kind != "exact" or not told or not isinstance(row.status, Status):
            continue
        key = row.key
        group = (key.problem, row.instance, key.objective, row.plan_class or "", key.hash)
        if group not in best or _says_more(row, best[group], goal_of(row)):
            best[group] = row
    return [_line(best[group]) for group in sorted(best)]


def write_baselines(rows: Iterable[Row], path: str | os.PathLike[str]) -> None:
    """Write the table of `baselines` as CSV.

    Raises
    ------
    NotApplicableError
        If the path cannot be written.
    """
    text = streams.StringIO(newline="")
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(baselines(rows))
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _says_more(row: Row, known: Row, goal: Objective) -> bool:
    """Tell whether a row says more than one before: a proof, or else the better plan."""
    ends = (Status.OPTIMAL, Status.INFEASIBLE)
    if (row.status in ends) != (known.status in ends):
        return row.status in ends
    if row.status in ends or row.value is None:
        return False
    return known.value is None or goal.better(row.value, known.value)


def _line(row: Row) -> dict[str, str]:
    proven = row.status is Status.OPTIMAL
    return {
        "problem": row.key.problem,
        "instance": row.instance,
        "hash": row.key.hash,
        "objective": row.key.objective,
        "plan_class": row.plan_class or "",
        "status": str(row.status),
        "optimum": _text(row.value) if proven else "",
        "value": _text(row.value),
        "bound": _text(row.bound),
        "proof": row.proof or "",
        "method": row.key.method,
        "solver": row.solver or "",
        "solver_version": row.solver_version or "",
        "dlopt": row.key.dlopt,
    }


def _text(value: Value | None) -> str:
    data = io.value_to_data(value)
    levels = data if isinstance(data, list) else [] if data is None else [data]
    return " ".join(map(str, levels))
