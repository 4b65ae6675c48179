"""The former ``convert FILE --to STEM --from FORMAT``, which works for one release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from dlopt import aliases
from dlopt.cli import conversions

_FLAGS = frozenset({"--online", "--exact-numbers", "--json", "-h", "--help"})
"""Options without a value, of all subcommands."""


class ConvertGroup(TyperGroup):
    """The subcommands; without one, the former ``convert FILE --to STEM --from FORMAT``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the subcommand in front of arguments that name none, but a file."""
        former = bool(args) and args[0] not in (*self.commands, "-h", "--help")
        former = former and names_a_file(args[0])
        return super().parse_args(ctx, with_subcommand(args) if former else args)


def names_a_file(word: str) -> bool:
    """Whether a first argument is an option or a file, and not a subcommand that is misspelled.

    Examples
    --------
    >>> names_a_file("graph.stg"), names_a_file("--from"), names_a_file("grahp")
    (True, True, False)
    """
    return word.startswith("-") or bool(Path(word).suffix) or Path(word).exists()


def with_subcommand(args: Sequence[str]) -> list[str]:
    """Return the arguments of the former ``convert FILE --to STEM --from FORMAT`` as those of now.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     with_subcommand(["b.txt", "--from", "orlib", "--to", "coreservation"])
    ['bins', 'b.txt', '--to', 'coreservation', '--format', 'orlib']
    """
    values: dict[str, str | None] = {"--from": None, "--to": None}
    files: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            files.append(word)
            rest.append(word)
            continue
        taken = [] if equals or name in _FLAGS else [next(words, "")]
        if name in values:
            values[name] = value if equals else taken[0]
        if name != "--from":
            rest += [word, *taken]
    if not files:  # typer says what is missing
        return ["swf", *rest]
    form = conversions.detected_format(Path(files[0]), values["--to"], values["--from"])
    kind = conversions.kind_of(form)
    aliases.warn(f"'dlopt convert FILE --from FORMAT' is called 'dlopt convert {kind} FILE' now")
    named = kind in ("bins", "graph") and values["--from"] is not None
    return [kind, *rest, *(["--format", form] if named else [])]
