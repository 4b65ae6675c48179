"""The table of what is proven of each instance, to be cited and to be compared with."""

from __future__ import annotations

import csv
import io as streams
import os
from collections.abc import Iterable

from dlopt import io
from dlopt.batch.metrics import objective_of
from dlopt.batch.records import Record
from dlopt.json_files import replacing
from dlopt.plan_classes import is_in_class_of
from dlopt.proven_reference import tightest
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
none is better than; `proof` says how the bound is established, as in `Result.proof`. `method` is
that of the value, followed by that of the bound where another one has the tighter bound. Levels of
lexicographic objectives are separated by a space."""


def baselines(records: Iterable[Record]) -> list[dict[str, str]]:
    """Return the best answer of the exact methods for each instance, objective and plan class.

    Where no optimum is proven, the bound is the tightest one of all methods that holds for the
    class. Sorted by problem, instance and objective. Records that say nothing, as of methods that
    failed, are passed over.

    Examples
    --------
    >>> from dlopt import read
    >>> from dlopt.batch.runs import solve_run
    >>> from dlopt.batch.experiment import plan_runs
    >>> runs = plan_runs([read("instances/iit/three-nodes.json")], ["exact"]).runs
    >>> (line,) = baselines(solve_run(run).record for run in runs)
    >>> line["instance"], line["plan_class"], line["optimum"]
    ('three-nodes', 'single', '39/8')
    """
    best: dict[tuple[str, ...], Record] = {}
    bounds: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        informative = (
            record.value is not None
            or record.bound is not None
            or record.status is Status.INFEASIBLE
        )
        if not informative or not isinstance(record.status, Status):
            continue
        key = record.key
        if record.bound is not None:
            bounds.setdefault((key.problem, key.objective, key.hash), []).append(record)
        if record.kind != "exact":
            continue
        group = (key.problem, record.instance, key.objective, record.plan_class or "", key.hash)
        if group not in best or _is_stronger(record, best[group], objective_of(record)):
            best[group] = record
    lines = []
    for _, record in sorted(best.items()):
        own = record.key
        known = bounds.get((own.problem, own.objective, own.hash), [])
        lines.append(_line(record, _tightest(record, known)))
    return lines


def write_baselines(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write the table of `baselines` as CSV.

    Raises
    ------
    NotApplicableError
        If the path cannot be written.
    """
    text = streams.StringIO(newline="")
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(baselines(records))
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _is_stronger(record: Record, known: Record, goal: Objective) -> bool:
    """Tell whether a record is stronger than another: a proof, or else the better plan."""
    rank = _rank(record)
    if rank != _rank(known):
        return rank > _rank(known)
    if rank != _OPEN or record.value is None:
        return False
    return known.value is None or goal.better(record.value, known.value)


def _tightest(record: Record, bounds: Iterable[Record]) -> Record:
    """Return the record whose bound is the tightest one for the class of a record that is open."""
    if _rank(record) != _OPEN:
        return record
    of_class = (
        other for other in bounds if other.plan_class is not None and is_in_class_of(record, other)
    )
    return tightest(objective_of(record), (record, *of_class), lambda one: one.bound) or record


_OPEN = 1
"""The rank of a plan or a bound without a proof that nothing is better."""


def _rank(record: Record) -> int:
    """Return 2 for a proof, and 0 for one that answers another question than the objective.

    `feasibility` asks for a plan that accepts everything: where it proves that there is none, some
    plan accepts less. Only of ``exact`` does infeasible mean that there is no plan at all.
    """
    if record.status is Status.INFEASIBLE:
        return 2 if record.key.method == "exact" else 0
    return 2 if record.status is Status.OPTIMAL else _OPEN


def _line(record: Record, bounding: Record) -> dict[str, str]:
    proven = record.status is Status.OPTIMAL
    methods = dict.fromkeys((record.key.method, bounding.key.method))
    return {
        "problem": record.key.problem,
        "instance": record.instance,
        "hash": record.key.hash,
        "objective": record.key.objective,
        "plan_class": record.plan_class or "",
        "status": str(record.status),
        "optimum": _text(record.value) if proven else "",
        "value": _text(record.value),
        "bound": _text(bounding.bound),
        "proof": bounding.proof or "",
        "method": " ".join(methods),
        "solver": record.solver or "",
        "solver_version": record.solver_version or "",
        "dlopt": record.key.dlopt,
    }


def _text(value: Value | None) -> str:
    data = io.value_to_data(value)
    levels = data if isinstance(data, list) else [] if data is None else [data]
    return " ".join(map(str, levels))
