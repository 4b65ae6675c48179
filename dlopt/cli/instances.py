"""The command that lists the shipped instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dlopt.cli.console import out, print_json, print_table
from dlopt.cli.options import AsJson

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

    Each with its size, best known value and origin. `dlopt.load(NAME)` reads one in Python;
    the commands take its file.
    """
    from dlopt.instance_library import list_instances

    found = list_instances(stem)
    if as_json:
        print_json([_to_data(shipped) for shipped in found])
        return
    _print(found)


def _print(found: Sequence[ShippedInstance]) -> None:
    from rich import box
    from rich.table import Table

    from dlopt.presentation.wording import counted

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("name", "size", "best known value"):
        table.add_column(heading, overflow="fold")
    table.add_column("origin", ratio=1)
    for shipped in found:
        table.add_row(
            shipped.name,
            ", ".join(counted(n, what.removesuffix("s")) for what, n in shipped.size.items()),
            _best(shipped.best_known),
            shipped.instance.origin,
        )
    print_table(table)
    for shipped in found[:1]:
        folder = shipped.path.parents[shipped.name.count("/")]
        out.print(f"the files are in {folder}", markup=False, soft_wrap=True)


def _best(known: BestKnown | None) -> str:
    from dlopt.result import shown_value

    if known is None:
        return "-"
    if known.value is None:
        return f"{known.objective}: bound {shown_value(known.bound)}"
    proven = " (optimal)" if known.value == known.bound else ""
    return f"{known.objective} {shown_value(known.value)}{proven}"


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
