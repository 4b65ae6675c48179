"""The application: every command with its name, in the order in which ``--help`` lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from dlopt.cli import convert, simulate_cluster
from dlopt.cli.batch import batch
from dlopt.cli.broker import broker
from dlopt.cli.check import check
from dlopt.cli.compare import compare
from dlopt.cli.console import out
from dlopt.cli.falsify import falsify
from dlopt.cli.generate import generate
from dlopt.cli.instances import instances
from dlopt.cli.mcp import mcp
from dlopt.cli.methods import methods
from dlopt.cli.plot import plot
from dlopt.cli.report import report
from dlopt.cli.schema import schema
from dlopt.cli.serve import serve
from dlopt.cli.solve import solve
from dlopt.version import __version__

app = typer.Typer(
    name="dlopt",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Scheduling: heuristics of published papers, checked against proven optima."""
    if show:
        out.print(__version__)
        raise typer.Exit


app.command()(solve)
app.command()(compare)
app.command()(check)
app.command()(methods)
app.command()(instances)
app.command()(generate)
app.add_typer(convert.app)
app.command()(falsify)
app.add_typer(simulate_cluster.app)
app.command()(batch)
app.command()(report)
app.command()(plot)
app.command()(schema)
app.command()(serve)
app.command()(broker)
app.command()(mcp)
