"""Programs of certificates over single chunks: their units, the plans that they are about, costs.

There are two of them, over sequences of chunks and over spans, which state their rows.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.certificates import StatedProgram
from dlopt.problems.admission.certified_chunks import stated_chunks, weight_of_task
from dlopt.problems.admission.certified_sequences import SequenceProgram
from dlopt.problems.admission.certified_spans import SpanProgram
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import Result, Status

OBJECTIVES = ("accepted", "accepted-load", "accepted-weight", "reject-ratio")
"""The objectives whose value is a weighted sum of acceptances."""


def is_over_chunks(certificate: StatedProgram) -> bool:
    """Tell whether a certificate states a program over sequences, or over spans, of chunks."""
    return any(name.startswith(("p_", "n_")) for name in certificate.names)


def proven_value(
    instance: Instance, result: Result[Solution], certificate: StatedProgram
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        Its objective, the class of the plans, and whether all tasks must be accepted.
    certificate : StatedProgram
        Its steps are not checked here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        A bound on the objective value of every plan of the class; None if there is no plan. And a
        flaw, or None.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.admission.methods import exact_plan
    >>> from dlopt.problems.admission.data import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4), Task("b", 1, 1, 2)))
    >>> result = exact_plan(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> certificate.flaw() is None, proven_value(instance, result, certificate)
    (True, (Fraction(1, 1), None))
    """
    claim, objective = certificate.claim, result.objective or ""
    if objective not in OBJECTIVES:
        return None, f"certificates do not support the objective {objective}"
    weights = [weight_of_task(task, objective) for task in instance.tasks]
    about = result.plan_class, result.installments
    stream = stated_chunks(instance, weights, *about, certificate.remarks)
    if isinstance(stream, str):
        return None, stream
    accept_all = result.method == "feasibility" and result.status is Status.INFEASIBLE
    promised = set(stream.loads) if accept_all else stream.promised
    value = None if claim is None else stream.value_of_finished - claim
    if value is not None and objective == "reject-ratio":
        value = 1 - value / len(instance.tasks)
    names, costs = certificate.names, certificate.costs
    stated = {names[column]: cost for column, cost in costs.items() if cost}
    if claim is not None and stated != {f"z_{i}": -one for i, one in stream.weights.items()}:
        return value, "its costs are not those of the objective"
    is_over_spans = any(name.startswith("n_") for name in names)
    program = SpanProgram if is_over_spans else SequenceProgram
    return value, program(stream, certificate, promised).flaw()
