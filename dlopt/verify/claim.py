"""Claims about methods, and the trials on which they are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dlopt.problems.validated_record import Header
from dlopt.registry import Method
from dlopt.verify.method_under_test import Answer, AnswerCache, AnyResult, Options


@dataclass(frozen=True, slots=True)
class Trial:
    """A method, an instance, and the answer of the method.

    Parameters
    ----------
    entry : Method
    instance : Instance
    answer : Answer
    seed : int
    options : mapping, optional
        Options with which the method was run.
    answers : AnswerCache, optional
        Answers of other methods to the instance.
    """

    entry: Method
    instance: Header
    answer: Answer
    seed: int = 0
    options: Options | None = None
    answers: AnswerCache | None = None

    def answer_of(self, name: str) -> Answer | None:
        """Return the answer of another method, None if it does not apply."""
        answers = self.answers or AnswerCache(self.instance, self.answer.objective, self.seed)
        return answers.answer(name)

    def valid_result_of(self, name: str) -> AnyResult | None:
        """Return the result of another method, if it has a feasible solution."""
        answer = self.answer_of(name)
        return None if answer is None else answer.valid


CLAIM_KINDS: Mapping[str, str] = {
    "value": "the objective value is wrong",
    "failed-verification": "the result failed verification",
    "failed": "the method raised an error",
    "bound-violated": "a solution is better than the bound allows",
    "worse-than-claimed": "the solution is worse than claimed",
}
"""The kinds of violations of claims, with what they mean; those of constraints belong to each
problem."""


@dataclass(frozen=True, slots=True)
class ClaimViolation:
    """A violation of a claim on an instance.

    Parameters
    ----------
    kind : str
        Kind of the constraint violation, or one of `CLAIM_KINDS`.
    text : str
        Description of the violation.
    """

    kind: str
    text: str


ClaimCheck = Callable[[Trial], tuple[ClaimViolation, ...]]


@dataclass(frozen=True, slots=True)
class Claim:
    """A property that is claimed of methods.

    Parameters
    ----------
    name : str
        Kebab-case.
    text : str
        The property.
    check : callable
        Returns all violations of the claim in a `Trial`.
    stem : str, optional
        The problem that it is about; by default any.
    methods : tuple of str
        The methods of which it is claimed; by default any.
    objective : str, optional
        Objective with which the method is run.
    options : mapping, optional
        Options with which it is run unless the caller gives others.
    """

    name: str
    text: str
    check: ClaimCheck
    stem: str | None = None
    methods: tuple[str, ...] = ()
    objective: str | None = None
    options: Options = field(default_factory=dict)

    def about(self, entry: Method) -> bool:
        """Return whether the claim is made of a method.

        A user's own function may be checked against any claim about its problem.
        """
        if self.stem not in (None, entry.stem):
            return False
        return not self.methods or entry.name in self.methods or callable(entry.target)
