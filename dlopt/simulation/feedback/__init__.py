"""Feedback control of admission, for schedulers that know execution times only as estimates.

`FeedbackRun` executes a stream under a strategy at its true costs; its trace can be checked by
`dlopt.problems.admission.violations_executed`. `identify` fits a difference equation to a run with
varied bounds, `design` finds a controller for it, and `compare_strategies` does all of this and
compares the strategies of Mamat 2011, chapter 7.
"""

from dlopt.simulation.feedback.controller import Controller, Gains
from dlopt.simulation.feedback.experiments import (
    ExperimentSetting,
    StrategyComparison,
    compare_strategies,
    measure_over_time,
)
from dlopt.simulation.feedback.identification import Model, excitation, identify
from dlopt.simulation.feedback.monitor import Period, merged_periods
from dlopt.simulation.feedback.policy import STRATEGIES, Policy, Strategy
from dlopt.simulation.feedback.root_locus import Design, Specification, closed_loop, design, plant
from dlopt.simulation.feedback.run import FeedbackRun

__all__ = [
    "STRATEGIES",
    "Controller",
    "Design",
    "ExperimentSetting",
    "FeedbackRun",
    "Gains",
    "Model",
    "Period",
    "Policy",
    "Specification",
    "Strategy",
    "StrategyComparison",
    "closed_loop",
    "compare_strategies",
    "design",
    "excitation",
    "identify",
    "measure_over_time",
    "merged_periods",
    "plant",
]
