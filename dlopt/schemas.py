"""The JSON Schema of instance files, generated from the records that check them."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

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
            return {**made, "additionalProperties": False}

    module = problem(stem).module
    made = TypeAdapter(module.Instance).json_schema(schema_generator=_Strict)
    made["properties"] = {
        "problem": {"const": stem, "description": "Which problem this is an instance of."},
        "version": {"const": VERSION, "description": "Version of the file format."},
        **made["properties"],
    }
    made["required"] = ["problem", "version", *made.get("required", [])]
    made["title"] = f"dlopt instance: {stem}"
    described = _numbers_as_text(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
    )
    return dict(described)


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
