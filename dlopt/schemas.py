"""The JSON Schema of instance files, generated from the records that check them."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterable
from typing import Any, Literal

from dlopt.io import VERSION
from dlopt.registry import problem

_NUMBER = (
    r"^\s*[-+]?([0-9]+\s*/\s*0*[1-9][0-9]*"
    r"|([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,4})?)\s*$"
)
"""What `dlopt.arithmetic.parse` reads, for other readers of the schema."""


def instance_schema(stem: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the instance files of a problem.

    It is generated from the records: the annotations that check a file also describe it, and
    their docstrings say what a field means. Rules between fields, such as the length of a list,
    are checked on reading only.

    Examples
    --------
    >>> schema = instance_schema("iit")
    >>> schema["required"]
    ['problem', 'version', 'cluster', 'ready_times', 'load']
    >>> schema["properties"]["ready_times"]["description"]
    'When each node becomes free.'
    """
    from pydantic import TypeAdapter

    module = problem(stem).module
    made = TypeAdapter(module.Instance).json_schema(schema_generator=_generator())
    described = _numbers_as_text(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **_headed(made, stem),
            "title": f"dlopt instance: {stem}",
        }
    )
    return dict(described)


def record_schemas(records: Iterable[type]) -> dict[str, Any]:
    """Return the JSON Schemas of records and of all records that stand in them, by their names.

    References between them are ``#/components/schemas/NAME``, as in an OpenAPI document. A record
    of a problem whose name is that of a record elsewhere has the problem in its name. Instances of
    problems are described as their files are.

    Parameters
    ----------
    records : iterable of type
        Records, or other classes of which pydantic knows a schema.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance
    >>> sorted(record_schemas([Instance]))
    ['BestKnown', 'Cluster', 'Commitment', 'Instance', 'Task', 'Units']
    """
    from pydantic import TypeAdapter

    inputs: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (record.__qualname__, "validation", TypeAdapter(record)) for record in records
    ]
    _, made = TypeAdapter.json_schemas(
        inputs,
        ref_template="#/components/schemas/{model}",
        schema_generator=_generator(),
    )
    found: dict[str, Any] = {}
    for name, described in made.get("$defs", {}).items():
        stem = next((found[1] for found in [_OF_A_PROBLEM.match(name)] if found), "")
        is_instance = bool(stem) and name.endswith("__Instance")
        found[_short_name(name)] = _headed(described, stem) if is_instance else described
    return dict(_with_short_names(_numbers_as_text(found)))


_OF_A_PROBLEM = re.compile(r"dlopt__problems__([a-z]+)__")
"""How pydantic begins the name of a record of a problem that is not the only one of its name."""


def _short_name(name: str) -> str:
    """Return the name of a record with its problem alone of all that leads to it.

    Examples
    --------
    >>> _short_name("dlopt__problems__bag__data__Task"), _short_name("Cluster")
    ('BagTask', 'Cluster')
    """
    found = _OF_A_PROBLEM.match(name)
    last = name.rpartition("__")[2]
    return last if found is None else found[1].capitalize() + last


def _with_short_names(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_short_names(item) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {key: _with_short_names(value) for key, value in node.items()}
    if isinstance(changed.get("$ref"), str):
        start, _, name = changed["$ref"].rpartition("/")
        changed["$ref"] = f"{start}/{_short_name(name)}"
    return changed


def _headed(made: dict[str, Any], stem: str) -> dict[str, Any]:
    """Return the schema of an instance with the fields by which its file says what it is."""
    head = {
        "problem": {"const": stem, "description": "Which problem this is an instance of."},
        "version": {"const": VERSION, "description": "Version of the file format."},
    }
    return {
        **made,
        "properties": {**head, **made["properties"]},
        "required": [*head, *made.get("required", [])],
    }


def _generator() -> Any:
    """Return the class that makes schemas of records."""
    from pydantic.json_schema import GenerateJsonSchema

    class _Strict(GenerateJsonSchema):
        """Records take no unknown fields, and any number may be a text ``p/q``."""

        def dataclass_schema(self, schema: Any) -> Any:
            made, record = super().dataclass_schema(schema), schema["cls"]
            made["description"] = inspect.getdoc(record).partition("\n\n")[0]  # type: ignore[union-attr]
            meant = _meanings(record)
            for name, described in made["properties"].items():
                if meant.get(name):
                    described["description"] = meant[name]
            made["additionalProperties"] = False
            text_field = getattr(record, "TEXT_FIELD", "")
            if text_field:
                return {"anyOf": [made, {"type": "string", "description": meant[text_field]}]}
            return made

    return _Strict


def parameters(docstring: str | None) -> dict[str, str]:
    """Return what the Parameters section of a numpydoc docstring says of each name.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> parameters(Cluster.__doc__)["theta_cm"]
    'Set-up time of each transmission and of each computation.'
    """
    found: dict[str, list[str]] = {}
    names: list[str] = []
    _, _, section = inspect.cleandoc(docstring or "").partition("Parameters\n----------\n")
    lines = section.splitlines()
    for line, following in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        if following.startswith("---"):  # the title of the next section
            break
        if line.startswith(" "):
            for name in names:
                found[name].append(line.strip())
        elif line:
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
            found |= {name: [] for name in names}
    return {name: " ".join(lines).replace("``", "`") for name, lines in found.items()}


def _meanings(record: type) -> dict[str, str]:
    """Return what each field of a record means, by the docstring of the class that declares it."""
    meant: dict[str, str] = {}
    for declaring in reversed(record.__mro__):
        described, own = parameters(declaring.__doc__), vars(declaring).get("__annotations__", {})
        meant |= {name: described.get(name, "") for name in own}
    return meant


def _numbers_as_text(node: Any) -> Any:
    """Say of every fraction in a schema how it is written."""
    if isinstance(node, list):
        return [_numbers_as_text(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "string" and "fraction" in str(node.get("format", "")):
        return {"type": "string", "pattern": _NUMBER}
    limits = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
    return {limits.get(key, key): _numbers_as_text(value) for key, value in node.items()}
