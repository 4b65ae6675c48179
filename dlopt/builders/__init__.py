"""Instances made step by step, of elements that refer to each other by name.

Each builder has one method for each kind of element. They return the builder, so that calls can be
chained; `build` returns the frozen instance, whose indices stand for the names. What is wrong is
raised by the call that adds it, and named.
"""

from dlopt.builders.admission import AdmissionBuilder
from dlopt.builders.bag import BagBuilder
from dlopt.builders.coreservation import CoReservationBuilder
from dlopt.builders.dag import DagBuilder
from dlopt.builders.iit import IitBuilder
from dlopt.builders.multistage import MultiStageBuilder

__all__ = [
    "AdmissionBuilder",
    "BagBuilder",
    "CoReservationBuilder",
    "DagBuilder",
    "IitBuilder",
    "MultiStageBuilder",
]
