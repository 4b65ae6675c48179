"""The records of a batch as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dlopt.batch.records import Record
from dlopt.presentation.frames import data_frame
from dlopt.presentation.layout import Row

if TYPE_CHECKING:
    from pandas import DataFrame


def to_frame(records: Iterable[Record]) -> DataFrame:
    """Return a data frame with a row for each record of a batch.

    The columns are the fields of a line of the file; limits and options are columns of their own,
    such as ``limit_time_s`` and ``option_k``. Fractions become floats.

    Parameters
    ----------
    records : iterable of Record
        As `read_records` returns them; of several files, one after the other.

    Raises
    ------
    MissingExtraError
        If pandas is not installed.

    Examples
    --------
    >>> from dlopt import load
    >>> from dlopt.batch import plan_runs
    >>> from dlopt.batch.runs import solve_run
    >>> runs = plan_runs([load("iit/three-nodes")], ["opr", "exact"]).runs
    >>> frame = to_frame(solve_run(run).record for run in runs)
    >>> frame.groupby("method")["value"].min().to_dict()
    {'exact': 4.875, 'opr': 6.4}
    """
    return data_frame(map(_row, records))


def _row(record: Record) -> Row:
    row: dict[str, object] = {**record.to_data()}
    limits, options = record.key.limits, dict(record.key.options)
    floats = ("value_float", "bound_float", "gap_float")  # the columns have floats anyway
    for name in ("version", "limits", "options", "answer", *floats):
        row.pop(name, None)
    row |= {"value": record.value, "bound": record.bound, "gap": record.gap}
    row["origin"] = record.origin
    row |= {f"limit_{name}": getattr(limits, name) for name in ("time_s", "work", "threads", "gap")}
    return row | {f"option_{name}": value for name, value in options.items()}
