"""What a certificate proves of a single divisible load.

A program is one of chunks (`dlopt.problems.iit.certified_chunks`), for plans with one chunk a node
or with as many as it states, or of flows (`dlopt.problems.iit.certified_flow`), for all plans; that
of flows states its instants. Both minimise the completion `t`, and count dates since an origin that
they state. Their rows need to hold only for plans that are complete by a date `T`. That is the
claim itself: if a plan ended earlier, it would be a point of the program, and the claim false. For
the number of nodes `T` is the deadline; with one chunk a node the number of chunks is minimised,
else that of used nodes. It is the deadline, too, where the claim is that the program has no point:
no plan is complete by then.

The models state such programs themselves; a proof holds only if these rules accept its program.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.certificates import StatedProgram
from dlopt.problems.certificate_division import stated_groups, stated_numbers
from dlopt.problems.certificate_units import stated_number
from dlopt.problems.iit.certified_chunks import ChunkProgram
from dlopt.problems.iit.certified_flow import FlowProgram
from dlopt.problems.iit.data import Instance, Solution
from dlopt.result import Result, Value

_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)


def proven_value(
    instance: Instance, result: Result[Solution], certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        Its objective, and the class of the plans that the bound is about.
    certificate : StatedProgram
        Its steps are not checked here.

    Returns
    -------
    tuple of (Value or None, str or None)
        A bound on the value of every plan of the class; None if there is no plan. And a flaw, or
        None.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.iit.methods import exact_plan
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    >>> result = exact_plan(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> certificate.flaw() is None, proven_value(instance, result, certificate)
    (True, (Fraction(39, 8), None))
    """
    claim, counts_nodes = certificate.claim, result.objective == "nodes"
    origin = stated_number(certificate.remarks, "origin")
    if origin is None or origin > min(map(exact, instance.ready_times)):
        return None, "its remarks do not state an origin before which no node is ready"
    if claim is not None and not counts_nodes:
        limit = claim
    else:
        deadline = latest_completion(instance)
        if deadline is None:
            return None, "without a deadline there is always a plan"
        limit = deadline - origin
    groups = stated_groups(certificate.remarks, instance.cluster.nodes)
    if groups is None:
        return None, "its remarks do not state the group of every node"
    flaw = _flaw(instance, result, certificate, groups, origin, limit)
    if claim is None:
        return None, flaw
    return ceil(claim) if counts_nodes else origin + claim, flaw


def _flaw(
    instance: Instance,
    result: Result[Solution],
    certificate: StatedProgram,
    groups: list[list[int]],
    origin: Fraction,
    limit: Fraction,
) -> str | None:
    """Return what is wrong with the program."""
    counts_nodes = result.objective == "nodes" and certificate.claim is not None
    names, chunks = certificate.names, _stated_chunks(certificate)
    counted = "t" if not counts_nodes else "z" if chunks == 1 else "u"
    if any(cost > (names[j][0] == counted) for j, cost in certificate.costs.items()):
        return "its costs are not those of the objective"
    if "instants" not in certificate.remarks:
        needed = {"single": 1, "k": result.installments}.get(result.plan_class or "any")
        if needed is None or chunks < needed:
            return f"it does not hold for all plans of the class {result.plan_class}"
        return ChunkProgram(instance, certificate, groups, origin, limit, chunks).flaw()
    instants = stated_numbers(certificate.remarks, "instants")
    if not instants:
        return "its remarks do not state the instants"
    if counts_nodes:
        return "flows have no number of nodes"
    return FlowProgram(instance, certificate, groups, instants, origin, limit).flaw()


def _stated_chunks(certificate: StatedProgram) -> int:
    """Return how many chunks a node may have, by the remarks; 0 if they state no such number."""
    text = certificate.remarks.get("chunks", "1")
    return int(text) if _COUNT.fullmatch(text) else 0


def latest_completion(instance: Instance) -> Fraction | None:
    """Return the deadline, in floats as late as the checker of plans may allow; None without one.

    It allows a chunk to end some tolerance after the deadline, and so long before it could in exact
    numbers.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> due = latest_completion(Instance(Cluster(1, 1, 1.0), (0,), load=1, absolute_deadline=3))
    >>> 3 < due < 3 + 1e-8
    True
    """
    if instance.absolute_deadline is None:
        return None
    deadline = exact(instance.absolute_deadline)
    if instance.exact:
        return deadline
    cluster, ready = instance.cluster, [exact(one) for one in instance.ready_times]
    times = (
        ready[node]
        + exact(instance.load) * (exact(cluster.tau_of(node)) + exact(cluster.chi_of(node)))
        for node in range(cluster.nodes)
    )
    alone = min(times) - min(ready) + exact(cluster.theta_cm) + exact(cluster.theta_cp)
    return deadline + 2 * exact(FLOATING) * alone + 3 * ROUNDING * deadline
