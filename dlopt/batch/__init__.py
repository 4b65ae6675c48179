"""Baselines for many instances: a plan of cells, run to its end, and what to make of the rows."""

from __future__ import annotations

from dlopt.batch.baselines import write_baselines
from dlopt.batch.experiment import Item, Plan, instance_files, plan_cells, read_item
from dlopt.batch.journal import read_rows
from dlopt.batch.records import Key, Row, Trouble
from dlopt.batch.report import Report, write_report
from dlopt.batch.runner import Summary, run_batch
from dlopt.batch.runs import Cell

__all__ = [
    "Cell",
    "Item",
    "Key",
    "Plan",
    "Report",
    "Row",
    "Summary",
    "Trouble",
    "instance_files",
    "plan_cells",
    "read_item",
    "read_rows",
    "run_batch",
    "write_baselines",
    "write_report",
]
