"""A claim about methods, and an instance with an answer that it is held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dlopt.problems.validated_record import Header
from dlopt.registry import Method
from dlopt.result import Result
from dlopt.verify.method_under_test import Answer, Panel


@dataclass(frozen=True, slots=True)
class Case:
    """A method, an instance, and its answer to it.

    Parameters
    ----------
    entry : Method
    instance : Instance
    answer : Answer
    seed : int
    options : mapping, optional
        With which the method was asked.
    panel : Panel, optional
        What other methods have answered already.
    """

    entry: Method
    instance: Header
    answer: Answer
    seed: int = 0
    options: Mapping[str, Any] | None = None
    panel: Panel | None = None

    def asked(self, name: str) -> Answer | None:
        """Return the answer of another method, None if it does not apply."""
        panel = self.panel or Panel(self.instance, self.answer.objective, self.seed)
        return panel.answer(name)

    def other(self, name: str) -> Result[Any] | None:
        """Return the valid answer of another method, if it has one."""
        found = self.asked(name)
        return None if found is None else found.valid


@dataclass(frozen=True, slots=True)
class Broken:
    """A claim that does not hold on some instance.

    Parameters
    ----------
    kind : str
        Of the violation, or ``refuted``, ``failed``, ``beaten``, ``worse``.
    text : str
        What is wrong.
    """

    kind: str
    text: str


Breaks = Callable[[Case], tuple[Broken, ...]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is claimed of methods.

    Parameters
    ----------
    name : str
        Kebab-case.
    text : str
        What is claimed.
    breaks : callable
        Of a `Case`: all that breaks the claim.
    stem : str, optional
        The problem it is about; None: any.
    methods : tuple of str
        Of which methods it is claimed; none: of any.
    objective : str, optional
        By which the method is asked.
    options : mapping, optional
        With which it is asked unless a caller says otherwise.
    """

    name: str
    text: str
    breaks: Breaks
    stem: str | None = None
    methods: tuple[str, ...] = ()
    objective: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def about(self, entry: Method) -> bool:
        """Tell whether the claim is made of a method.

        A function of a caller's own may be held against any claim about its problem.
        """
        if self.stem not in (None, entry.stem):
            return False
        return not self.methods or entry.name in self.methods or callable(entry.target)
