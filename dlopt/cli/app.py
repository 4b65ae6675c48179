"""The application: every command with its name, in the order in which ``--help`` lists them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo

from dlopt.cli import convert, simulate_cluster
from dlopt.cli.batch import batch
from dlopt.cli.broker import broker
from dlopt.cli.check import check
from dlopt.cli.compare import compare
from dlopt.cli.console import out
from dlopt.cli.falsify import falsify
from dlopt.cli.generate import generate
from dlopt.cli.help_texts import add_command, option
from dlopt.cli.instances import instances
from dlopt.cli.mcp import mcp
from dlopt.cli.methods import methods
from dlopt.cli.options import LIMITS, OUTPUT
from dlopt.cli.plot import plot
from dlopt.cli.report import report
from dlopt.cli.schema import schema
from dlopt.cli.serve import serve
from dlopt.cli.solve import solve
from dlopt.version import __version__

SOLVING = "Solve and verify"
INSTANCES = "Instances and pictures"
EXPERIMENTS = "Experiments"
SERVICE = "Service"

app = typer.Typer(
    name="dlopt",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: dlopt solve instances/iit/three-nodes.json",
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, option("--version -V", "Print the version and exit.")] = False,
) -> None:
    """Scheduling: heuristics of published papers, checked against proven optima."""
    if show:
        out.print(__version__)
        raise typer.Exit


add_command(
    app,
    solve,
    "solve instances/dag/topcuoglu-10.json --time-limit 10 --plot plan.svg",
    panel=SOLVING,
    options={
        LIMITS: ("target", "no_improvement"),
        "Solver": ("solver_log", "parameters"),
    },
)
add_command(app, compare, "compare instances/iit --methods opr,epr,exact", panel=SOLVING)
add_command(app, check, "check instances/iit/three-nodes.json result.json", panel=SOLVING)
add_command(app, methods, "methods dag", panel=SOLVING)
add_command(app, instances, "instances dag", panel=INSTANCES)
add_command(
    app, generate, "generate iit --family ramp --set nodes=8 --out ramp.json", panel=INSTANCES
)
app.add_typer(convert.app, rich_help_panel=INSTANCES)
add_command(
    app, plot, "plot instances/iit/three-nodes.json result.json --out plan.svg", panel=INSTANCES
)
add_command(app, schema, "schema iit", panel=INSTANCES)
add_command(
    app,
    batch,
    "batch instances/dag --time-limit 10 --out records.jsonl",
    panel=EXPERIMENTS,
    options={
        LIMITS: ("time_limits", "works", "hard_timeout", "memory"),
        "Execution": ("workers", "executor", "retry"),
        OUTPUT: ("write_to", "pictures", "certificates"),
    },
)
add_command(app, report, "report records.jsonl --out report.html", panel=EXPERIMENTS)
add_command(app, falsify, "falsify iit edf-iit-1 --claim optimal --seconds 10", panel=EXPERIMENTS)
app.add_typer(simulate_cluster.app, rich_help_panel=EXPERIMENTS)
add_command(app, serve, "serve --port 8321", panel=SERVICE)
add_command(
    app,
    broker,
    "broker request.json --domain west=http://127.0.0.1:8321/v1/books/cpu",
    panel=SERVICE,
)
add_command(app, mcp, "mcp --url http://127.0.0.1:8321 --token token.txt", panel=SERVICE)


def called_command(arguments: Sequence[str]) -> TyperGroup:
    """Return the root command with the command alone that is called, if it is known; else all.

    Each is made from its annotations, which for all of them takes a tenth of the time of a command.
    """
    name = arguments[0] if arguments else ""
    return root_command(name) if name in _simple_commands() else root_command()


@cache
def root_command(name: str = "") -> TyperGroup:
    """Return the command of which all others are parts, or only one of that name."""
    chosen = copy(app)
    if name:
        chosen.registered_commands = [_simple_commands()[name]]
        chosen.registered_groups = []
    command = typer.main.get_command(chosen)
    assert isinstance(command, TyperGroup)
    return command


@cache
def _simple_commands() -> dict[str, CommandInfo]:
    """Return the commands without commands of their own, by name."""
    return {
        one.name or typer.main.get_command_name(one.callback.__name__): one
        for one in app.registered_commands
        if one.callback is not None
    }
