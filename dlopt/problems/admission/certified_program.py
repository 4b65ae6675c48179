"""Programs of certificates over single chunks: their units, the plans that they are about, costs.

There are two of them, over sequences of chunks and over spans, which state their rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from dlopt.certificates import StatedProgram
from dlopt.problems.admission.certified_chunks import StreamChunks
from dlopt.problems.admission.certified_sequences import SequenceProgram
from dlopt.problems.admission.certified_spans import SpanProgram
from dlopt.problems.admission.data import Instance, Solution
from dlopt.problems.certificate_units import stated_number
from dlopt.problems.certified_rows import ZERO
from dlopt.result import Result, Status

OBJECTIVES = ("accepted", "accepted-load", "accepted-weight", "reject-ratio")
"""The objectives whose value is a weighted sum of acceptances."""
MAX_CHUNKS = 10**5
"""Programs of more chunks are not checked; a search for a proof ends at far fewer."""

_SCALE = re.compile(r"(?:0 is (\S+), )?1 is (\S+)")
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)


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
    remarks, claim = certificate.remarks, certificate.claim
    origin, time_unit = _stated_scale(remarks, "time")
    _, load_unit = _stated_scale(remarks, "load")
    text = remarks.get("chunks", "")
    if time_unit is None or load_unit is None or not _COUNT.fullmatch(text):
        return None, "its remarks do not state the units and the number of chunks"
    most = int(text)
    needed = {"single": 1, "k": result.installments}.get(result.plan_class or "any")
    if needed is None or most < needed:
        return None, f"it does not hold for all plans of the class {result.plan_class}"
    if len(instance.tasks) * instance.cluster.nodes * most > MAX_CHUNKS:
        return None, f"a program of more than {MAX_CHUNKS:,} chunks is not checked"
    if result.objective not in OBJECTIVES:
        return None, f"certificates do not support the objective {result.objective}"
    stream = StreamChunks(instance, result.objective, origin, time_unit, load_unit, most)
    accept_all = result.method == "feasibility" and result.status is Status.INFEASIBLE
    promised = set(stream.loads) if accept_all else stream.promised
    value = None if claim is None else stream.value_of_finished - claim
    if value is not None and result.objective == "reject-ratio":
        value = 1 - value / len(instance.tasks)
    names, costs = certificate.names, certificate.costs
    stated = {names[column]: cost for column, cost in costs.items() if cost}
    if claim is not None and stated != {f"z_{i}": -one for i, one in stream.weights.items()}:
        return value, "its costs are not those of the objective"
    is_over_spans = any(name.startswith("n_") for name in names)
    program = SpanProgram if is_over_spans else SequenceProgram
    return value, program(stream, certificate, promised).flaw()


def _stated_scale(remarks: Mapping[str, str], key: str) -> tuple[Fraction, Fraction | None]:
    """Return the instant 0 that a remark states, and its unit; None if it states none."""
    match = _SCALE.fullmatch(remarks.get(key, ""))
    if match is not None:
        origin, unit = (stated_number({key: word}, key) for word in (match[1] or "0", match[2]))
        if origin is not None and unit is not None and unit > 0:
            return origin, unit
    return ZERO, None
