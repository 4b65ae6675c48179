"""The command that lists methods."""

from __future__ import annotations

from typing import Annotated

import typer

from dlopt.cli.console import out, quiet_solvers
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson, Imports


def methods(
    stem: Annotated[
        str | None,
        typer.Argument(metavar="[STEM]", help="Problem type.", show_default="all problem types"),
    ] = None,
    imports: Imports = None,
    as_json: AsJson = False,
) -> None:
    """List problem types and methods.

    Each method with its claim, plan class, source and options.
    """
    from dlopt import registry
    from dlopt.cli import result_tables
    from dlopt.cli.tables import print_table

    with quiet_solvers():  # plug-ins are code of others, too
        entries = registry.methods(stem)
    if not as_json:
        for part in result_tables.methods(entries, out.width):
            print_table(part)
        return
    print_result(
        "methods",
        {
            "methods": [
                {
                    "problem": entry.stem,
                    "method": entry.name,
                    "kind": entry.kind,
                    "claim": entry.claim,
                    "plan_class": entry.plan_class,
                    "objectives": list(entry.objectives),
                    "source": entry.source,
                    "summary": entry.summary,
                    "options": [
                        {"name": o.name, "type": o.type, "default": o.default, "help": o.help}
                        for o in entry.options
                    ],
                }
                for entry in entries
            ]
        },
    )
