"""Detection of the format of a task graph file, and reading in any format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from dlopt.errors import NotApplicableError
from dlopt.formats.task_graph import TaskGraph
from dlopt.problems.validated_record import Units

GraphFormat: TypeAlias = Literal["stg", "wfformat", "dax", "pegasus-dag", "dot", "costs"]

FORMATS: dict[GraphFormat, str] = {
    "stg": "Standard Task Graph Set (STG)",
    "wfformat": "WfCommons WfFormat, JSON, schema 1.5 and before",
    "dax": "Pegasus DAX, XML",
    "pegasus-dag": "the text files of the same workflows: FILE, TASK, INPUTS, OUTPUTS, EDGE",
    "dot": "Graphviz",
    "costs": "a cost per task and machine, as papers publish them",
}
"""The formats and their descriptions."""
_WORKFLOW = Units("s", data="B")
UNITS: dict[GraphFormat, Units] = {
    "wfformat": _WORKFLOW,
    "dax": _WORKFLOW,
    "pegasus-dag": _WORKFLOW,
}
"""The units of the formats that state them: run times on a machine of power 1, sizes of files."""

_SUFFIXES: dict[str, GraphFormat] = {
    ".stg": "stg",
    ".json": "wfformat",
    ".dax": "dax",
    ".xml": "dax",
    ".dot": "dot",
    ".gv": "dot",
    ".csv": "costs",
}


def format_by_name(path: str | os.PathLike[str]) -> GraphFormat | None:
    """Return the format by the suffix of a file name; None if it is unknown.

    Examples
    --------
    >>> format_by_name("montage.dax"), format_by_name("montage.txt")
    ('dax', None)
    """
    return _SUFFIXES.get(Path(path).suffix.lower())


def format_of(path: str | os.PathLike[str]) -> GraphFormat | None:
    """Return the format of a file by its name, or else by its beginning; None if unknown.

    A file that cannot be read has none.
    """
    known = format_by_name(path)
    if known is not None:
        return known
    try:
        if not os.path.isfile(path):  # what is read of a pipe is gone
            return None
        with open(path, "rb") as file:
            text = file.read(4096).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return None
    return _format_by_content(text.lstrip())


def read(
    path: str | os.PathLike[str],
    *,
    format: GraphFormat | None = None,  # noqa: A002 - the word that users know
    edges: str | os.PathLike[str] | None = None,
    exact_numbers: bool = False,
) -> TaskGraph:
    """Read a task graph from a file.

    Parameters
    ----------
    path : path-like
    format : {"stg", "wfformat", "dax", "pegasus-dag", "dot", "costs"}, optional
        By default detected from the name of the file, or else from its beginning.
    edges : path-like, optional
        The table of edges that belongs to a table of costs (``costs`` only).
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell.

    Returns
    -------
    TaskGraph

    Raises
    ------
    NotApplicableError
        If there is no such format, or it cannot be detected.
    InvalidInstanceError
        With the line or path of every fault.
    """
    from dlopt.formats import dax, dot, stg, task_graph_tables, wfformat

    known = ", ".join(FORMATS)
    kind = format or format_of(path)
    if kind is None:
        raise NotApplicableError(f"cannot tell the format of {path} (known: {known})")
    if edges is not None and kind != "costs":
        raise NotApplicableError(f"a table of edges belongs to the format costs, not to {kind}")
    if kind == "costs":
        return task_graph_tables.read(path, edges=edges, exact_numbers=exact_numbers)
    readers: dict[str, Callable[..., TaskGraph]] = {
        "stg": stg.read,
        "wfformat": wfformat.read,
        "dax": dax.read,
        "pegasus-dag": dax.read_dag,
        "dot": dot.read,
    }
    if kind not in readers:
        raise NotApplicableError(f"no format {kind!r} (known: {known})")
    return readers[kind](path, exact_numbers=exact_numbers)


def _format_by_content(text: str) -> GraphFormat | None:
    words = text.split(maxsplit=2)
    if not words:
        return None
    if words[0] in ("FILE", "TASK", "INPUTS", "OUTPUTS", "EDGE"):
        return "pegasus-dag"
    if words[0].lower() in ("digraph", "strict", "graph") or text.startswith(("//", "/*")):
        return "dot"
    if text.startswith("<"):
        return "dax"
    if text.startswith("{"):
        return "wfformat"
    if text.startswith("#") or words[0].replace(".", "").isdigit():
        # a graph of STG begins with one number
        return "stg" if len(text.splitlines()[0].split()) == 1 and words[0].isdigit() else "costs"
    return None
