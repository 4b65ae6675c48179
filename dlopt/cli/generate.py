"""The command that generates instances."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dlopt import arithmetic
from dlopt.cli.console import out
from dlopt.cli.help_texts import option
from dlopt.cli.json_output import print_result, write_instance
from dlopt.cli.option_values import number, pairs
from dlopt.cli.options import AsJson, Out, Seed, Settings
from dlopt.errors import NotApplicableError


def generate(
    stem: Annotated[
        str | None, typer.Argument(metavar="STEM", help="Problem type.", show_default=False)
    ] = None,
    family: Annotated[
        str | None,
        option("--family F", "Family of instances.", "list the families and their parameters"),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Generate an instance, or list the families of instances.

    `dlopt generate STEM` lists the families, what they draw, and the parameters that --set takes.
    Without --out the instance is printed.
    """
    from dlopt import generation, registry

    if stem is None:
        raise NotApplicableError(
            f"the problem type is missing (known: {', '.join(registry.stems())})"
        )
    if family is None:
        if settings or write_to is not None:
            known = ", ".join(generation.families(stem))
            raise NotApplicableError(f"--family is missing (known: {known})")
        _list_families(stem, as_json)
        return
    parameters = {name: number(value) for name, value in pairs(settings).items()}
    instance = generation.generate(stem, family, seed=seed, **parameters)
    write_instance("generate", instance, write_to, as_json)


def _list_families(stem: str, as_json: bool) -> None:
    from dlopt.cli import result_tables
    from dlopt.generation import described

    families = described(stem)
    if as_json:
        print_result(
            "generate",
            {
                "families": [
                    {
                        "family": family.name,
                        "summary": family.summary,
                        "notes": family.notes,
                        "parameters": [
                            {"name": p.name, "default": _plain(p.default), "help": p.help}
                            for p in family.parameters
                        ],
                    }
                    for family in families
                ]
            },
        )
        return
    for part in result_tables.families(stem, families):
        out.print(part, markup=False, soft_wrap=True)


def _plain(value: Any) -> Any:
    return None if value is None else arithmetic.to_json(value)
