"""The command that prints the JSON Schema of instance files."""

from __future__ import annotations

from typing import Annotated

import typer

from dlopt.cli.console import print_json
from dlopt.cli.options import AsJson


def schema(
    stem: Annotated[str, typer.Argument(metavar="STEM", help="Problem type.")],
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of instance files."""
    from dlopt.schemas import instance_schema

    print_json(instance_schema(stem))
