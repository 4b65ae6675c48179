"""The JSON Schema of instance files, generated from the records that check them."""

from __future__ import annotations

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

    It is generated from the records: the annotations that check a file also describe it. Rules
    between fields, such as the length of a list, are checked on reading only.

    Examples
    --------
    >>> instance_schema("iit")["required"]
    ['problem', 'version', 'cluster', 'ready_times', 'load']
    """
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class _Strict(GenerateJsonSchema):
        """Records take no unknown fields, and any number may be a text ``p/q``."""

        def dataclass_schema(self, schema: Any) -> Any:
            return {**super().dataclass_schema(schema), "additionalProperties": False}

    module = problem(stem).module
    made = TypeAdapter(module.Instance).json_schema(schema_generator=_Strict)
    made["properties"] = {
        "problem": {"const": stem},
        "version": {"const": VERSION},
        **made["properties"],
    }
    made["required"] = ["problem", "version", *made["required"]]
    made["title"] = f"dlopt instance: {stem}"
    described = _numbers_as_text(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
    )
    return dict(described)


def _numbers_as_text(node: Any) -> Any:
    """Say of every fraction in a schema how it is written, and drop docstrings made for code."""
    if isinstance(node, list):
        return [_numbers_as_text(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "string" and "fraction" in str(node.get("format", "")):
        return {"type": "string", "pattern": _NUMBER}
    limits = {"ge": "minimum", "gt": "exclusiveMinimum"}
    return {
        limits.get(key, key): _numbers_as_text(value)
        for key, value in node.items()
        if not (key == "description" and isinstance(value, str))
    }
