"""Schedulers that know execution times only as estimates, and a controller that watches them.

`FeedbackRun` executes a stream under a strategy at its true costs; its trace can be held against
`dlopt.problems.admission.violations_executed`. `identify` fits a difference equation to a run
whose bound was moved, `design` finds a controller for it, and `study` does all of this and
compares the strategies of Mamat 2011, chapter 7.
"""

from dlopt.simulation.feedback.controller import Controller, Gains
from dlopt.simulation.feedback.experiments import Setting, Study, course, study
from dlopt.simulation.feedback.identification import Model, excitation, identify
from dlopt.simulation.feedback.monitor import Period, together
from dlopt.simulation.feedback.policy import STRATEGIES, Policy, Strategy
from dlopt.simulation.feedback.root_locus import Design, Specification, closed_loop, design, plant
from dlopt.simulation.feedback.run import FeedbackRun

__all__ = [
    "STRATEGIES",
    "Controller",
    "Design",
    "FeedbackRun",
    "Gains",
    "Model",
    "Period",
    "Policy",
    "Setting",
    "Specification",
    "Strategy",
    "Study",
    "closed_loop",
    "course",
    "design",
    "excitation",
    "identify",
    "plant",
    "study",
    "together",
]
