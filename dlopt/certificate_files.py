"""Certificates of bounds as files: written from a result, and verified against an instance."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from dlopt.arithmetic import FLOATING, ROUNDING, exact, is_number, shown
from dlopt.certificates import Certificate, InfeasibilityProof
from dlopt.errors import NotApplicableError
from dlopt.formats import vipr
from dlopt.input_files import path_name, text_lines
from dlopt.json_files import replacing
from dlopt.problems.validated_record import Header
from dlopt.query import origin_of
from dlopt.registry import problem_of
from dlopt.result import Objective, Result, Status, Value, Violation, levels_of

NOT_CERTIFIED = " is claimed, not certified: "
"""Between a claim and the reason why it has no certificate, in the reason of a certified result."""

SolutionT = TypeVar("SolutionT")

_LONG = 10**100
"""Of shorter numbers no sum of products in a proof has too many digits to be written and read, in
programs that are not very large."""


def write_certificate(result: Result[Any], path: str | os.PathLike[str]) -> None:
    """Write the proof of a result's bound as a VIPR file, which others can verify, too.

    Parameters
    ----------
    result : Result
        Of a method that proves its bound in fractions, or that there is no plan.
    path : path-like
        Replaced as a whole.

    Raises
    ------
    NotApplicableError
        If the result has no certificate, or the path cannot be written.

    See Also
    --------
    check_certificate

    Examples
    --------
    >>> import os, tempfile
    >>> from dlopt.api import solve
    >>> from dlopt.io import read
    >>> instance = read("instances/admission/two-tasks-one-channel.json")
    >>> result = solve(instance, "bound-window-cuts")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "proof.vipr")
    ...     write_certificate(result, path)
    ...     result.bound, check_certificate(instance, result, path)
    (1, ())
    """
    lines = vipr.lines_of(_certificate_of(result))
    with replacing(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def certificate_text(result: Result[object]) -> str:
    """Return the certificate of a result as the text of a VIPR file.

    Raises
    ------
    NotApplicableError
        If the result has none.
    """
    return vipr.to_text(_certificate_of(result))


def _certificate_of(result: Result[object]) -> Certificate:
    _require_result(result)
    if result.certificate is None:
        raise NotApplicableError(f"there is no certificate: {reason_for_no_certificate(result)}")
    return result.certificate


def with_writable_certificate(result: Result[SolutionT]) -> Result[SolutionT]:
    """Return a result without a certificate that no file can state: its numbers are too long.

    What it proves is proven in exact arithmetic, then.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlopt.api import solve
    >>> from dlopt.io import read
    >>> result = solve(read("instances/admission/two-tasks-one-channel.json"), "bound-window-cuts")
    >>> with_writable_certificate(result) is result
    True
    >>> costs = (Fraction(1, 10**5000), *result.certificate.costs[1:])
    >>> long = replace(result, certificate=replace(result.certificate, costs=costs))
    >>> with_writable_certificate(long).proof
    'exact'
    """
    certificate = result.certificate
    if certificate is None or not any(map(_is_long, _numbers(certificate))):
        return result
    try:
        vipr.parse(vipr.to_text(certificate))
    except ValueError:
        why = "no certificate: its numbers have more digits than Python reads"
        reason = why if result.reason is None else f"{result.reason}; {why}"
        return replace(result, certificate=None, proof="exact", reason=reason)
    return result


def _is_long(number: Fraction | None) -> bool:
    return number is not None and max(abs(number.numerator), number.denominator) > _LONG


def _numbers(certificate: Certificate) -> Iterator[Fraction | None]:
    """Yield the numbers of a certificate; others are sums of products of them."""
    if isinstance(certificate, InfeasibilityProof):
        for _, terms, _, side in certificate.constraints:
            yield from (side, *(weight for _, weight in terms))
        return
    yield from (certificate.bound, *certificate.costs)
    for terms in (*certificate.rows, *(leaf.multipliers for leaf in certificate.leaves)):
        yield from (weight for _, weight in terms)
    for sides in (*certificate.row_bounds, *certificate.column_bounds):
        yield from sides


def reason_for_no_certificate(result: Result[object]) -> str:
    """Return why a result has no certificate.

    Examples
    --------
    >>> from dlopt.io import read
    >>> from dlopt.api import solve
    >>> proven = solve(read("instances/iit/three-nodes.json"))
    >>> reason_for_no_certificate(replace(proven, certificate=None, proof="exact"))
    'the bound is proven in exact arithmetic, but not from the constraints of a linear program'
    >>> known = Result(Status.BOUND, bound=3, proof="solver", solver="CP-SAT", reason="2 levels")
    >>> reason_for_no_certificate(known)
    'the bound is reported by CP-SAT, and not proven (2 levels)'
    """
    infeasible = result.status is Status.INFEASIBLE
    if result.bound is None and not infeasible:
        if result.reason is not None and NOT_CERTIFIED in result.reason:
            return result.reason
        return f"the method {result.method} proves no bound"
    what = "infeasibility" if infeasible else "the bound"
    _, _, failure = (result.reason or "").partition("no certificate: ")
    if result.proof == "exact" and failure:
        return (
            f"{what} is proven in exact arithmetic, but not by the steps of a program ({failure})"
        )
    if result.proof == "exact":
        program = "the constraints of a linear program"
        return f"{what} is proven in exact arithmetic, but not from {program}"
    source = {"solver": f"reported by {result.solver}", "floats": "computed in floats"}
    text = f"{what} is {source.get(result.proof or '', 'claimed')}, and not proven"
    return text if result.reason is None or infeasible else f"{text} ({result.reason})"


def check_certificate(
    instance: Header,
    result: Result[Any],
    path: str | os.PathLike[str],
    statement: str | os.PathLike[str] | None = None,
) -> tuple[Violation, ...]:
    """Return what keeps a certificate from proving the bound of a result.

    Its steps are followed in fractions, by code that shares nothing with what made them, and its
    program is compared with the instance: every constraint must be one of the relaxation, and
    every cut must hold for every plan of the result's class; of the class ``k``, for as many chunks
    as the result says. Of instances in floats it proves the bound for windows that are a
    little wider, see `dlopt.models.admission.scaled_instance`.

    Parameters
    ----------
    instance : Instance
    result : Result
        With a bound, or with the status ``INFEASIBLE``.
    path : path-like
        A VIPR file.
    statement : path-like or None
        If nothing is found, the program is written there as it was read and compared with the
        instance: a VIPR file up to its claim, without steps.

    Returns
    -------
    tuple of Violation
        Of kind ``proof`` (a step does not follow), ``program`` (it is not the instance's) or
        ``bound`` (less is proven than the result has).

    Raises
    ------
    InvalidInstanceError
        If the file is no VIPR file.
    NotApplicableError
        If the result has nothing to be proven.
    """
    _require_provable(instance, result)
    with closing(text_lines(path, "VIPR")) as lines:
        certificate = vipr.parse_lines(lines, path_name(path))
        found = _violations(instance, result, certificate)
    if statement is not None and not found:
        with replacing(statement) as file:
            file.write(vipr.statement_text(certificate).encode())
    return found


def check_own_certificate(instance: Header, result: Result[object]) -> tuple[Violation, ...]:
    """Return what keeps the certificate that a result has from proving its bound.

    It is checked as the file that `write_certificate` writes.

    Parameters
    ----------
    instance : Instance
    result : Result

    Returns
    -------
    tuple of Violation
        See `check_certificate`.

    Raises
    ------
    NotApplicableError
        If the result has no certificate.

    Notes
    -----
    Complexity: linear in the length of the file, in rational arithmetic.

    Examples
    --------
    >>> from dlopt.api import solve
    >>> from dlopt.io import read
    >>> instance = read("instances/admission/two-tasks-one-channel.json")
    >>> check_own_certificate(instance, solve(instance, "bound-window-cuts"))
    ()
    """
    try:
        certificate = vipr.parse(certificate_text(result))
    except NotApplicableError:
        raise
    except ValueError as error:  # what does not cover all cases cannot be written, or read again
        return (Violation("proof", str(error)),)
    _require_provable(instance, result)
    return _violations(instance, result, certificate)


def _require_result(result: object) -> None:
    if not isinstance(result, Result):
        raise NotApplicableError(f"a result is needed, not a {type(result).__name__}")


def _require_provable(instance: Header, result: Result[object]) -> None:
    problem = problem_of(instance)
    _require_result(result)
    if result.objective not in problem.module.OBJECTIVES:
        raise NotApplicableError(f"{problem.stem} has no objective {result.objective!r}")
    if result.bound is None and result.status is not Status.INFEASIBLE:
        raise NotApplicableError("the result has no bound that could be proven")


def _violations(
    instance: Header, result: Result[object], certificate: vipr.Certificate
) -> tuple[Violation, ...]:
    """Return what is wrong with a certificate, and before it that it names another instance.

    A name alone refutes nothing: an instance may have been renamed.
    """
    found = _unexplained_violations(instance, result, certificate)
    name = repr(instance.name or "unnamed")
    named = certificate.remarks.get("instance", name)
    if not found or named == name:
        return found
    text = f"instance {named[:100]}, not on {name}: the certificate is of another instance"
    return (Violation("program", text), *found)


def _unexplained_violations(
    instance: Header, result: Result[object], certificate: vipr.Certificate
) -> tuple[Violation, ...]:
    problem = problem_of(instance)
    verify, goal = problem.load_certified(), problem.module.OBJECTIVES[result.objective]
    flaw = certificate.flaw()
    if flaw is not None:
        return (Violation("proof", flaw),)
    proven, mismatch = verify(instance, result, certificate)
    if mismatch is not None:
        return (Violation("program", mismatch),)
    if result.status is Status.INFEASIBLE:
        return () if proven is None else (Violation("bound", "plans are not excluded"),)
    origin = exact(origin_of(problem.module, instance, result.objective))
    return () if proven is None else _bound_violations(result, proven, goal, origin)


def _bound_violations(
    result: Result[object], proven: Value, goal: Objective, origin: Fraction
) -> tuple[Violation, ...]:
    """Return that less is proven than a result claims, if so: of the first level that differs."""
    claimed = result.bound
    assert claimed is not None  # it was asked for
    proven_levels, levels = levels_of(proven), levels_of(claimed)
    if not all(map(is_number, levels)):
        return (Violation("bound", f"{result.objective} (it is no number that a plan can have)"),)
    if not 0 < len(levels) <= len(proven_levels):
        counts = f"it has {len(levels)} levels, and the certificate proves {len(proven_levels)}"
        return (Violation("bound", f"{result.objective} ({counts})"),)
    senses = goal.senses_of(proven)
    for at, (is_proven, level, sense) in enumerate(
        zip(proven_levels, levels, senses, strict=False)
    ):
        lacking = (exact(is_proven) - exact(level)) * (1 if sense == "max" else -1)
        if lacking < 0:
            break
        # Of a plan within the rounding of a level the next ones could be anything.
        is_rounded = isinstance(level, float) and at == len(levels) - 1
        if lacking > (_rounding(exact(is_proven), origin) if is_rounded else 0):
            claims = f"the certificate proves {_shown(proven)}, the result claims {_shown(claimed)}"
            return (Violation("bound", f"{result.objective} ({claims})", amount=lacking),)
    return ()


def _rounding(bound: Fraction, origin: Fraction) -> Fraction:
    """Return what a bound in floats may be off; of a date it is little, as it has its origin."""
    spare = exact(FLOATING) * abs(bound - origin)
    return spare + ROUNDING * abs(bound) if origin else spare


def _shown(value: Value) -> str:
    texts = [shown(level) for level in levels_of(value)]
    return f"({', '.join(texts)})" if isinstance(value, tuple) else texts[0]
