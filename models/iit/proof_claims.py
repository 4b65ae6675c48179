"""Which program proves what a result claims: its certificate, or why it has none.

Of one chunk a node, identical nodes have cases of the number of chunks
(`dlopt.models.iit.proof_cases`), and a few nodes that differ a search of all orders
(`dlopt.models.iit.proof_orders`), as have a few nodes with several chunks each. For any chunks, and
more nodes that differ, there is the fluid relaxation (`dlopt.models.iit.proof_flow`), where it
proves as much.

In exact numbers an optimum of a MILP solver is proven itself, in place of the bound of the solver,
which is a little lower. In floats a completion is proven up to a part of the rounding that is
allowed, and a deadline is so much later that no plan that the checker accepts is left out.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact, least
from dlopt.certificates import BoundCertificate
from dlopt.models.common.searched_program import ProofError
from dlopt.models.iit.proof_cases import certify_completion, certify_lateness, certify_nodes
from dlopt.models.iit.proof_flow import certify_flow
from dlopt.models.iit.proof_orders import certify_orders
from dlopt.problems.earliest_schedule import span
from dlopt.problems.iit.data import Instance, Solution
from dlopt.result import Result, Status

_ROUNDING_PROVEN = Fraction(1, 2**31)
"""By how much less a completion in floats is proven, relative: half of what is allowed (1e-9)."""


def certified(
    instance: Instance, result: Result[Solution], objective: str, stop: float = inf
) -> Result[Solution]:
    """Return a result with the certificate of its bound, or with the reason why it has none.

    Parameters
    ----------
    instance : Instance
    result : Result
        In the units of the instance; one without a bound is returned as it is.
    objective : {"completion", "nodes"}
    stop : float
        Instant of the monotonic clock at which a search for a proof ends.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> claimed = Result(Status.OPTIMAL, value=4, bound=Fraction(399, 100), plan_class="single")
    >>> certified(instance, claimed, "completion").bound
    4
    >>> false = Result(Status.BOUND, bound=5, plan_class="single")
    >>> certified(instance, false, "completion").reason
    'no certificate: a plan may be complete before what is claimed'
    """
    claims = _Claims(instance, result, objective, stop)
    try:
        if result.status is Status.INFEASIBLE:
            return replace(result, certificate=claims.of_lateness())
        if result.bound is None:
            return result
        if objective == "nodes":
            return replace(result, certificate=claims.of_nodes(exact(_number(result.bound))))
        return claims.of_completion()
    except ProofError as error:
        why = f"no certificate: {error}"
        return replace(result, reason=why if result.reason is None else f"{result.reason}; {why}")


def _number(bound: object) -> Number:
    """Return a bound: the objectives have one level."""
    assert isinstance(bound, (int, float, Fraction))
    return bound


class _Claims:
    """The proofs of what a result claims."""

    def __init__(
        self, instance: Instance, result: Result[Solution], objective: str, stop: float
    ) -> None:
        self.instance, self.result, self.objective = instance, result, objective
        self.stop, self.seed = stop, result.seed or 0
        self.is_single = result.plan_class == "single"
        self.installments = {"single": 1, "k": result.installments}.get(result.plan_class or "any")
        self.is_identical = instance.cluster.identical

    def of_lateness(self) -> BoundCertificate:
        """Prove that no plan is complete by the deadline."""
        limit = self._deadline()
        if self.is_single and self.is_identical:
            return certify_lateness(self.instance, limit, self.objective)
        try:
            return certify_flow(self.instance, limit, is_late=True, stop=self.stop, seed=self.seed)
        except ProofError:
            if self.installments is None:
                raise
        return self._certify_orders(limit, None)

    def of_nodes(self, nodes: Fraction) -> BoundCertificate:
        """Prove that so many nodes are needed for the deadline."""
        limit = self._deadline()
        if self.is_single and self.is_identical:
            return certify_nodes(self.instance, limit, int(nodes))
        return self._certify_orders(limit, nodes)

    def of_completion(self) -> Result[Solution]:
        """Prove the completion, where it is optimal, else the bound."""
        result = self.result
        is_optimal = result.status is Status.OPTIMAL
        claim = _number(result.value if is_optimal else result.bound)
        certificate = self._certify_completion(self._limit(claim))
        bound = claim if self.instance.exact else result.bound
        return replace(result, bound=bound, certificate=certificate)

    def _certify_completion(self, limit: Fraction) -> BoundCertificate:
        if self.is_single and self.is_identical:
            return certify_completion(self.instance, limit)
        try:
            return certify_flow(self.instance, limit, stop=self.stop, seed=self.seed)
        except ProofError:
            if self.installments is None:
                raise
        return self._certify_orders(limit, limit)

    def _certify_orders(self, limit: Fraction, bound: Fraction | None) -> BoundCertificate:
        chunks = self.installments or 1
        about = self.instance, self.objective, limit, bound, self.stop, self.seed, chunks
        return certify_orders(*about)

    def _limit(self, claim: Number) -> Fraction:
        """Return the completion that is proven for a claim: in floats a little less."""
        date, origin = exact(claim), exact(least(self.instance.ready_times))
        if self.instance.exact:
            return date
        spare = _ROUNDING_PROVEN * (date - origin)
        return date - spare - (ROUNDING / 2 * date if origin else 0)

    def _deadline(self) -> Fraction:
        """Return the deadline, in floats as late as any plan that the checker accepts."""
        assert self.instance.absolute_deadline is not None  # something is late, or could be
        deadline = exact(self.instance.absolute_deadline)
        if self.instance.exact:
            return deadline
        spare = 4 * exact(FLOATING) * exact(span(self.instance))
        return deadline + spare + 4 * ROUNDING * deadline
