"""What ``--help`` prints of a command: its docstring, under which heading it stands, an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

import typer
from typer.core import TyperCommand


def option(
    names: str, text: str, default: str | bool = True, *, panel: str | None = None, **more: Any
) -> object:
    """Return an option of a command as typer takes it.

    Parameters
    ----------
    names : str
        As they are typed, followed by what stands for the value, unless it is a flag.
    text : str
        What the help says.
    default : str, optional
        What the help says is meant without the option; by default, the default value if there is
        one.
    panel : str, optional
        The heading under which the option stands in the help.
    **more
        Other arguments of `typer.Option`.

    Examples
    --------
    >>> shown = option("--method -m M", "Admission algorithm.", "edf-iit-2")
    >>> shown.metavar, shown.help, shown.show_default
    ('M', 'Admission algorithm.', 'edf-iit-2')
    """
    words = names.split()
    metavar = None if words[-1].startswith("-") else words.pop()
    return typer.Option(
        *words, metavar=metavar, help=text, show_default=default, rich_help_panel=panel, **more
    )


def add_command(
    app: typer.Typer,
    command: Callable[..., None],
    example: str,
    *,
    panel: str | None = None,
    options: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Add a command to an application; its help ends with an example.

    Parameters
    ----------
    app : Typer
    command : callable
        Its name is that of the command, its docstring the help.
    example : str
        What follows ``dlopt``.
    panel : str, optional
        The heading under which the help of the application lists it.
    options : mapping of str to collection of str, optional
        Headings of options, and the parameters of the command that stand under each.
    """
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    app.command(
        cls=_grouped(options or {}),
        help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        epilog=f"Example: dlopt {example}",
        rich_help_panel=panel,
    )(command)


def _grouped(options: Mapping[str, Collection[str]]) -> type[TyperCommand]:
    """Return the class of a command whose options stand under headings."""
    headings = {name: heading for heading, names in options.items() for name in names}

    class GroupedCommand(TyperCommand):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            for parameter in self.params:
                heading = headings.get(parameter.name or "")
                if heading is not None:
                    parameter.rich_help_panel = heading  # type: ignore[attr-defined]

    return GroupedCommand
