"""What a comparison of methods on one instance returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from dlopt.aliases import renamed_property
from dlopt.arithmetic import PrintableRecord
from dlopt.best_known_check import Contradiction
from dlopt.errors import DloptError
from dlopt.plan_classes import is_in_class_of
from dlopt.presented_record import TabularRecord
from dlopt.problems.validated_record import Header
from dlopt.proven_reference import Gap
from dlopt.registry import Method
from dlopt.result import NO_LIMITS, Limits, Result, Status
from dlopt.result_checker import InvalidResultError


@dataclass(frozen=True, slots=True)
class ComparisonRow(PrintableRecord):
    """One method in a comparison.

    Parameters
    ----------
    method : Method
    result : Result or None
        None if the method failed, or its result was invalid.
    gap_to_best : float, tuple of float, or None
        The gap to the proven optimum: ``|value - optimum| / |optimum|``, where dates count from
        `Result.origin`; if no optimum is proven, the gap to the best bound of all methods that
        holds for the plan class of the value. Of a lexicographic objective the gap of each level,
        up to the first that differs. None where there is nothing to compare.
        (`Result.gap` is ``|value - bound| / |value|`` with the result's own bound.)
    error : DloptError or None
        Why there is no result.
    """

    method: Method
    result: Result[Any] | None
    gap_to_best: Gap | None
    error: DloptError | None = None

    behind = renamed_property("behind", "gap_to_best")
    refuted = renamed_property("refuted", "invalid")

    @property
    def invalid(self) -> bool:
        """Whether the result of the method failed verification."""
        return isinstance(self.error, InvalidResultError)

    @property
    def failure(self) -> str | None:
        """Why there is no result, as text, or None if there is one."""
        if self.error is None:
            return None
        return f"{'INVALID' if self.invalid else 'failed'}: {self.error}"


@dataclass(frozen=True, slots=True)
class Comparison(TabularRecord):
    """Every applicable method on one instance.

    Parameters
    ----------
    instance : Instance
    objective : str
    reference : Result or None
        What is proven best: an optimum, of an exact method if one has proven it; else the tightest
        bound of any method; else the result of the first exact method. Where the instance states
        that more is proven, that is it, see `stated`.
    rows : tuple of ComparisonRow
    skipped : tuple of (str, str)
        Methods that do not apply, and why.
    contradictions : tuple of Contradiction
        Where the best known values of the instance are wrong.
    certified : bool, default False
        Whether bounds count only with certificates, see `dlopt.compare`.
    stated : tuple of Result
        Best known values of the instance that gaps are relative to, as no method of the comparison
        has proven as much. They are claims of its file, and have not been proven again; where
        certificates are asked for, they do not count.
    limits, seed
        What `dlopt.compare` was given.
    options : mapping of str to object
        Those that it was given, as ``METHOD.option``.
    """

    PRESENTED_BY: ClassVar[str] = "dlopt.presentation.comparisons"

    instance: Header
    objective: str
    reference: Result[Any] | None
    rows: tuple[ComparisonRow, ...]
    skipped: tuple[tuple[str, str], ...]
    contradictions: tuple[Contradiction, ...] = ()
    certified: bool = False
    stated: tuple[Result[Any], ...] = ()
    limits: Limits = NO_LIMITS
    seed: int = 0
    options: Mapping[str, object] = field(default_factory=dict)

    left_out = renamed_property("left_out", "skipped")
    measured_from = renamed_property("measured_from", "gap_reference")

    @property
    def gap_reference(self) -> Literal["optimum", "bound"] | None:
        """What `ComparisonRow.gap_to_best` is relative to, or None if nothing is proven."""
        if self.reference is None:
            return None
        if self.reference.status is Status.OPTIMAL:
            return "optimum"
        return None if self.reference.bound is None else "bound"

    @property
    def incomparable(self) -> tuple[ComparisonRow, ...]:
        """The methods without a gap because nothing is proven of the plan class of their plans."""
        if self.reference is None:
            return ()
        proven = [self.reference]
        if self.gap_reference == "bound":
            results = [row.result for row in self.rows if row.result is not None]
            proven = [one for one in (*results, *self.stated) if one.bound is not None]
        return tuple(
            row
            for row in self.rows
            if row.result is not None
            and row.result.value is not None
            and not any(is_in_class_of(row.result, other) for other in proven)
        )
