"""Experiments: a plan of runs (instance x method x limits x seed), its records, and a report."""

from __future__ import annotations

from dlopt.aliases import module_getattr
from dlopt.batch.baselines import write_baselines
from dlopt.batch.experiment import (
    ExperimentPlan,
    NamedInstance,
    instance_files,
    plan_runs,
    read_item,
)
from dlopt.batch.frames import to_frame
from dlopt.batch.journal import read_records
from dlopt.batch.records import Failure, Record, RunKey
from dlopt.batch.report import Report, write_report
from dlopt.batch.runner import BatchSummary, run_batch
from dlopt.batch.runs import Run

__all__ = [
    "BatchSummary",
    "ExperimentPlan",
    "Failure",
    "NamedInstance",
    "Record",
    "Report",
    "Run",
    "RunKey",
    "instance_files",
    "plan_runs",
    "read_item",
    "read_records",
    "run_batch",
    "to_frame",
    "write_baselines",
    "write_report",
]

__getattr__ = module_getattr(
    __name__,
    {
        "Cell": "Run",
        "Item": "NamedInstance",
        "Key": "RunKey",
        "Plan": "ExperimentPlan",
        "Row": "Record",
        "Summary": "BatchSummary",
        "Trouble": "Failure",
        "plan_cells": "plan_runs",
        "read_rows": "read_records",
    },
    globals(),
)
