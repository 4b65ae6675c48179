"""What the site shows that is made of the code: commands, fields of files, uses in the gallery.

A line ``<!-- generated: NAME -->`` of a page is replaced by the Markdown that a function of
`GENERATORS` returns.
"""

import ast
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from typer.cli import get_docs_for_click
from typer.main import get_command
from typer.models import Context

ROOT = Path(__file__).parents[2]


def command_help() -> str:
    """Return what ``--help`` says of all commands, as Markdown."""
    from dlopt.cli.app import app

    command = get_command(app)
    return get_docs_for_click(obj=command, ctx=Context(command), indent=1, name="dlopt")


def instance_fields() -> str:
    """Return tables of all fields of instance files and of printed JSON, from the schemas."""
    text = []
    for path in sorted((ROOT / "schemas").glob("*.schema.json")):
        schema = json.loads(path.read_text())
        stem = path.name.partition(".")[0]
        text += [f"## `{stem}`", "", *_table(schema)]
        for name, record in schema.get("$defs", {}).items():
            if "properties" in record:
                text += ["", f"### `{name}` of `{stem}`", "", record.get("description", "")]
                text += ["", *_table(record)]
        text.append("")
    return "\n".join(text)


def _table(record: dict[str, Any]) -> Iterator[str]:
    yield "| field | value | meaning |"
    yield "|---|---|---|"
    for name, field in record["properties"].items():
        needed = "" if name in record.get("required", ()) else "; optional"
        meaning = field.get("description", "").replace("\n", " ").replace("|", "\\|")
        yield f"| `{name}` | {_value(field)}{needed} | {meaning} |"


def _value(field: dict[str, Any]) -> str:
    """Return what may stand in a field, in words."""
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(map(_value, field["anyOf"])))
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    if field.get("type") == "array":
        items = [*field.get("prefixItems", ()), *([field["items"]] if field.get("items") else [])]
        return "list of " + ", ".join(map(_value, items)) if items else "list"
    if field.get("type") == "string" and "pattern" in field:
        return 'number as text (`"1/3"`)'
    return {"string": "text", "boolean": "`true` or `false`"}.get(
        field.get("type", ""), field.get("type", "any value")
    )


GENERATORS = {"commands": command_help, "files": instance_fields}


def fill_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the marker of a page, if it has one, by what is generated."""
    source[0] = re.sub(
        r"^<!-- generated: (\w+) -->$",
        lambda marker: GENERATORS[marker[1]](),
        source[0],
        flags=re.MULTILINE,
    )


def uses_in_gallery() -> dict[str, list[str]]:
    """Return the names of the scripts of the gallery that use a public name of dlopt."""
    uses = defaultdict(list)
    for script in sorted((ROOT / "examples").glob("*.py")):
        for name in sorted(set(_used_names(ast.parse(script.read_text())))):
            uses[name].append(script.stem)
    return uses


def _used_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dlopt":
            yield f"dlopt.{node.attr}"


def name_uses(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Append links to the examples that use an object to its description."""
    if examples := app.config.gallery_uses.get(name):
        links = ", ".join(f":doc:`/docs/gallery/{example}`" for example in examples)
        lines += ["", f"**In the gallery:** {links}", ""]


def show_constructor(
    app: Sphinx, what: str, name: str, obj: Any, options: object, signature: str, returns: str
) -> tuple[str, str] | None:
    """Return the parameters of a constructor where a general ``__new__`` hides them."""
    if signature != "(*_, **__)":
        return None
    parameters = [*inspect.signature(obj.__init__).parameters.values()][1:]
    named = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(named)), returns


class UnlinkAmbiguousNames(SphinxPostTransform):
    """Make plain text of names such as ``Instance`` where several problems have one.

    Sphinx would link them to any of these, with a warning.
    """

    default_priority = 5  # before the references are resolved

    def run(self, **kwargs: Any) -> None:
        """Replace the ambiguous references of a page."""
        domain = self.env.domains.python_domain
        for node in list(self.document.findall(pending_xref)):
            if node["refdomain"] != "py":
                continue
            context = node.get("py:module"), node.get("py:class"), node["reftarget"]
            mode = 1 if node.hasattr("refspecific") else 0
            found = domain.find_obj(self.env, *context, "obj", mode)
            if sum(not entry.aliased for _, entry in found) > 1:
                node.replace_self(node.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of this with Sphinx."""
    app.add_config_value("gallery_uses", uses_in_gallery(), "env")
    app.add_post_transform(UnlinkAmbiguousNames)
    app.connect("source-read", fill_page)
    app.connect("autodoc-process-signature", show_constructor)
    app.connect("autodoc-process-docstring", name_uses, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
