"""What ``--help`` prints of a command: its docstring, under which heading it stands, an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer


def add_command(
    app: typer.Typer, command: Callable[..., None], example: str, *, panel: str | None = None
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
    """
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    app.command(
        help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        epilog=f"Example: dlopt {example}",
        rich_help_panel=panel,
    )(command)
