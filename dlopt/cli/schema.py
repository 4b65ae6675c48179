"""The command that prints the JSON Schemas of files and of what commands print."""

from __future__ import annotations

from typing import Annotated

import typer

from dlopt.cli.json_output import print_document, print_result
from dlopt.cli.options import AsJson
from dlopt.errors import NotApplicableError, known_names


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Problem type, for its instance files; or result, comparison, verification, error "
            "or envelope, for what commands print with --json.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of instance files or of results.

    What solve, compare and check print with --json is a result, a comparison and a verification;
    errors are printed on standard error. All commands print the fields of the envelope.
    """
    from dlopt import registry
    from dlopt.output_schemas import OUTPUTS, output_schema
    from dlopt.schemas import instance_schema

    names = (*registry.stems(), *OUTPUTS)
    if name not in names:
        raise NotApplicableError(f"there is no schema {name!r} ({known_names(name, names)})")
    found = output_schema(name) if name in OUTPUTS else instance_schema(name)
    if as_json:
        print_result("schema", {"schema": found})
    else:
        print_document(found)
