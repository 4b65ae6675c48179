"""JSON that commands print: one envelope for all results, and errors as problem details.

Instances and JSON Schemas, which commands print without ``--json`` too, are documents of their own
and have no envelope then.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dlopt.cli.console import err, ignoring_closed_output
from dlopt.cli.input_files import STANDARD

if TYPE_CHECKING:
    from dlopt.problems.validated_record import Header

SCHEMA_VERSION = 1
"""Version of what commands print as JSON; it grows when a field goes or changes its meaning."""
_FLAG = "--json"


def is_wanted() -> bool:
    """Tell whether the command that is running was asked for JSON."""
    return _FLAG in sys.argv[1:]


def envelope(command: str, content: Mapping[str, object]) -> dict[str, object]:
    """Return what a command prints as JSON: its result, and before it what the result is of.

    Parameters
    ----------
    command : str
        ``solve``, ``simulate cluster``, ...
    content : mapping
        The fields of the result.
    """
    from dlopt.version import __version__

    head = {"schema_version": SCHEMA_VERSION, "command": command, "dlopt": __version__}
    return {**head, **content}


def print_result(command: str, content: Mapping[str, object]) -> None:
    """Print the envelope with a result, and nothing else, on standard output."""
    print_document(envelope(command, content))


def print_document(data: object) -> None:
    """Print JSON, and nothing else, on standard output."""
    from dlopt.json_files import to_text

    with ignoring_closed_output():
        sys.stdout.write(to_text(data))
        sys.stdout.flush()


def print_problem(content: Mapping[str, object], exit_code: int) -> None:
    """Print on standard error, as one line of JSON, why there is no result."""
    data = envelope(_command(sys.argv[1:]), {**content, "exit_code": exit_code})
    err.print(json.dumps(data), markup=False)


def _command(arguments: Iterable[str]) -> str:
    """Return the command that arguments call, with its subcommand; "" if they call none."""
    from dlopt.cli.app import root_command

    commands, names = root_command().commands, []
    for name in arguments:
        if name in commands:
            names.append(name)
            commands = getattr(commands[name], "commands", {})
    return " ".join(names)


def write_instance(
    command: str, instance: Header, path: os.PathLike[str] | None, as_json: bool
) -> None:
    """Write an instance to a file and say on standard error what it is, or print it."""
    from dlopt import io
    from dlopt.presentation.instance_summary import summary_text

    if path == STANDARD:
        path = None
    if path is not None:
        io.write(instance, path)
    if as_json:
        file = None if path is None else os.fspath(path)
        print_result(command, {"instance": io.instance_to_data(instance), "file": file})
    elif path is None:
        print_document(io.instance_to_data(instance))
    else:
        err.print(f"{os.fspath(path)}: {summary_text(instance)}", markup=False)
