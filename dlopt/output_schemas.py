"""The JSON Schemas of what commands print with ``--json``, and of their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from dlopt.result import PlanClass, Proof, Status, StoppedBy

_described = with_config(ConfigDict(use_attribute_docstrings=True))
Amount: TypeAlias = int | float | Annotated[str, Field(pattern=r"^-?[0-9]+(/[0-9]+)?$")]
"""A number, or a text: a fraction, or an integer that is too long for other programs."""
Levels: TypeAlias = Amount | list[Amount] | None
"""An objective value: a list of its levels if the objective is lexicographic."""
FloatLevels: TypeAlias = float | list[float | None] | None


@_described
class Envelope(TypedDict):
    """What every command prints with ``--json``: its own fields, and before them these."""

    schema_version: Literal[1]
    """Version of this form; it grows when a field goes or changes its meaning."""
    command: str
    """The command, such as `solve` or `simulate cluster`."""
    dlopt: str
    """Version of dlopt."""


@_described
class ViolationOutput(TypedDict):
    """One way in which a plan breaks a rule of its problem."""

    kind: str
    """The rule that is broken."""
    resource: str
    """What it is broken on."""
    start: Amount | None
    end: Amount | None
    amount: Amount | None
    """By how much."""


@_described
class Answer(TypedDict):
    """What a method answers; one that failed in a comparison has None where it has no answer."""

    problem: str
    """Problem type of the instance."""
    instance: str
    """Name of the instance."""
    hash: str
    """SHA-256 of the content of the instance."""
    method: str
    status: Status | None
    objective: str | None
    value: Levels
    value_float: FloatLevels
    """The nearest floats, as in all fields that end so."""
    bound: Levels
    bound_float: FloatLevels
    gap: Levels
    """|value - bound| / |value|; dates count from `origin`."""
    gap_float: FloatLevels
    proof: Proof | None
    """How the bound is established."""
    origin: Amount | None
    """The instant from which dates count in gaps."""
    plan_class: PlanClass | None
    """The plans for which the bound holds."""
    installments: int | None
    reason: str | None
    """Why there is no plan, or no proof."""
    runtime_s: float | None
    stopped_by: StoppedBy | None
    """What ended the search before it was done."""
    seed: int | None
    tolerance: float | None
    """The relative tolerance with which the plan was verified; 0 is exact."""
    solver: str | None
    solver_version: str | None
    violations: list[ViolationOutput]
    solution: dict[str, object] | None
    """The plan, as `dlopt check` reads it."""


@_described
class ResultOutput(Envelope, Answer):
    """What `dlopt solve --json` prints and `--out` writes."""

    schedule: dict[str, object] | None
    """The plan with names in place of indices, and with end times."""


@_described
class ComparisonRowOutput(Answer):
    """One method in a comparison; its `solution` is always None."""

    gap_to_optimum: float | list[float] | None
    """|value - optimum| / |optimum|, of levels each; None if no optimum is proven."""
    gap_to_bound: float | list[float] | None
    """Where no optimum is proven: |value - bound| / |bound|; the gap to optimum is no larger."""
    failure: str | None
    """Why there is no result."""


class SkippedOutput(TypedDict):
    """A method that was not run."""

    method: str
    reason: str


@_described
class ComparedInstance(TypedDict):
    """The methods on one instance."""

    problem: str
    instance: str
    hash: str
    objective: str
    certified: bool
    """Whether bounds and optima count only with a certificate that is accepted."""
    limits: dict[str, Levels]
    """What each method might spend; None is no limit."""
    seed: int
    options: dict[str, object]
    """Those that were given, as METHOD.option."""
    rows: list[ComparisonRowOutput]
    skipped: list[SkippedOutput]
    contradictions: list[dict[str, object]]
    """Where best known values of the instance are wrong."""
    stated: list[dict[str, object]]
    """Best known values of the instance that gaps are relative to; they are not proven again."""


class ComparisonOutput(Envelope):
    """What `dlopt compare --json` prints."""

    comparisons: list[ComparedInstance]


@_described
class VerificationOutput(Envelope):
    """What `dlopt check --json` prints."""

    valid: bool
    tolerance: float
    objectives: dict[str, Levels]
    """The values of the plan."""
    objectives_float: dict[str, FloatLevels]
    violations: list[ViolationOutput]
    unverified: list[str]
    """What the result claims beyond its plan, where no certificate is given."""


class FaultOutput(TypedDict, total=False):
    """One thing that is wrong with some input; `value` is what stands there, if anything does."""

    path: str
    rule: str
    value: str | float | bool | None


@_described
class ErrorOutput(Envelope):
    """A line that commands with ``--json`` print on standard error: problem details (RFC 9457)."""

    type: str
    """Kind of the error: `urn:dlopt:invalid-content`, ..."""
    title: str
    detail: str
    faults: list[FaultOutput]
    exit_code: int
    """The exit code of the command, if this is the only error."""


OUTPUTS: Mapping[str, type] = {
    "result": ResultOutput,
    "comparison": ComparisonOutput,
    "verification": VerificationOutput,
    "error": ErrorOutput,
    "envelope": Envelope,
}
"""What has a schema, by the name that `dlopt schema` takes."""


def output_schema(name: str) -> dict[str, object]:
    """Return the JSON Schema (2020-12) of what commands print.

    Fields that are not listed may be there too: former names, and those of later versions.

    Parameters
    ----------
    name : str
        One of `OUTPUTS`.

    Examples
    --------
    >>> output_schema("envelope")["required"]
    ['schema_version', 'command', 'dlopt']
    """
    made = TypeAdapter(OUTPUTS[name]).json_schema()
    schema = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": schema, **made, "title": f"dlopt output: {name}"}
