"""The command that lists the shipped instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dlopt.cli.console import out
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson
from dlopt.errors import printable

if TYPE_CHECKING:
    from dlopt.instance_library import ShippedInstance
    from dlopt.problems.validated_record import BestKnown


def instances(
    stem: Annotated[
        str | None,
        typer.Argument(metavar="[STEM]", help="Problem type.", show_default="all problem types"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the instances that are shipped with dlopt.

    Each with its size, best known value and origin. Commands take a name in place of a file;
    `dlopt.load(NAME)` reads one in Python.
    """
    from dlopt.instance_library import list_instances

    found = list_instances(stem)
    if as_json:
        print_result("instances", {"instances": [_to_data(shipped) for shipped in found]})
        return
    _print(found)


def _print(found: Sequence[ShippedInstance]) -> None:
    from dlopt.cli.tables import TerminalTable
    from dlopt.presentation.wording import counted

    columns = ("name", "size", "best known value", "origin")
    table = TerminalTable(columns, left=columns, droppable=("origin", "size"))
    for shipped in found:
        sizes = (counted(n, what.removesuffix("s")) for what, n in shipped.size.items())
        cells = (shipped.name, ", ".join(sizes), _best(shipped.best_known), shipped.instance.origin)
        table.add(dict(zip(columns, map(printable, cells), strict=True)))
    table.print()
    for shipped in found[:1]:
        folder = shipped.path.parents[shipped.name.count("/")]
        out.print(f"the files are in {folder}", markup=False, soft_wrap=True)


def _best(known: BestKnown | None) -> str:
    from dlopt.presentation.wording import decimals

    if known is None:
        return "-"
    if known.value is None:
        return f"{known.objective}: bound {decimals(known.bound)}"
    proven = " (optimal)" if known.value == known.bound else ""
    return f"{known.objective} {decimals(known.value)}{proven}"


def _to_data(shipped: ShippedInstance) -> dict[str, object]:
    from dlopt import io
    from dlopt.problems.validated_record import plain

    instance, best = shipped.instance, shipped.best_known
    return {
        "name": shipped.name,
        "problem": instance.problem,
        "size": shipped.size,
        "best_known": plain(instance.best_known),
        **io.values_to_data(
            best_value=None if best is None else best.value,
            best_bound=None if best is None else best.bound,
        ),
        "origin": instance.origin,
        "file": str(shipped.path),
    }
