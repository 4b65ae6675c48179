"""Charts of solutions: `plot` draws one and may write it to a file.

Charts need matplotlib (``pip install 'dlopt[plot]'``), which is imported on use. They use neither
pyplot nor a window system, so they work in servers and in batch jobs.
"""

from __future__ import annotations

import importlib
import io
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.json_files import replacing
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Violation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHARTS = {
    "iit": "DivisibleLoadChart",
    "admission": "StreamChart",
    "multistage": "MixedStreamChart",
    "coreservation": "ReservationChart",
    "dag": "TaskGraphChart",
    "bag": "BagChart",
}
PROBLEMS = tuple(_CHARTS)
"""The problems that have a chart."""

SUFFIXES = (".svg", ".png", ".pdf")
"""The suffixes of the files that `plot` writes."""

DPI = 200
"""Dots per inch of PNG files, and of charts that are too dense for vectors."""

_SETTINGS = threading.Lock()


def plot(
    instance: Header,
    solution: object,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
) -> Figure:
    """Draw a solution, and write the chart to a file if a path is given.

    Parameters
    ----------
    instance : Instance
        Of a problem in `PROBLEMS`.
    solution : Solution or Result
        A solution of that problem, or a result with one; then method and status are in the
        subtitle, and the violations of an infeasible solution are outlined.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf. The file is written completely or not at all. Equal input and
        equal versions of matplotlib give equal bytes.
    title : str, optional
        Instead of the name of the instance.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If there is no solution, no chart for it, or the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk, Instance, Solution
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    >>> figure = plot(instance, Solution((Chunk(0, 1, 0, 1, 1, 2),)))
    >>> figure.axes[0].get_xlabel()
    'time'
    """
    return draw_figure(lambda: _figure(instance, solution, title), path)


def _figure(instance: Header, solution: object, title: str | None) -> Figure:
    """Draw a solution or a result; of a result, method, status and violations are shown."""
    note, violations = "", tuple[Violation, ...]()
    if isinstance(solution, Result):
        note = ", ".join(word for word in (solution.method, str(solution.status)) if word)
        violations, solution = solution.violations, _solution_of(solution)
    return draw_solution(instance, solution, title=title, note=note, violations=violations)


def svg_of(instance: Header, result: Result[object]) -> bytes:
    """Return the chart of a result as the content of an SVG file.

    Raises
    ------
    NotApplicableError, MissingExtraError
        As `plot` does.
    """
    _require_matplotlib()
    with _SETTINGS, _settings():
        return _rendered(_figure(instance, result, None), "svg")


def draw_solution(
    instance: Header,
    solution: object,
    *,
    title: str | None = None,
    note: str = "",
    violations: Sequence[Violation] = (),
) -> Figure:
    """Draw a solution with matplotlib's present settings; `plot` is the public entry point.

    Parameters
    ----------
    instance : Instance
        Of a problem in `PROBLEMS`.
    solution : Solution
        It need not be feasible: placements of tasks, machines or nodes that do not exist are
        omitted.
    title : str, optional
        By default the name of the instance.
    note : str
        Method and status, for the subtitle.
    violations : sequence of Violation
        To be outlined.

    Raises
    ------
    NotApplicableError
        If there is no chart of the problem, or `solution` is none of it, or is empty.
    """
    problem = getattr(instance, "problem", type(instance).__name__)
    if problem not in PROBLEMS:
        raise NotApplicableError(f"no chart of {problem!r}, only of {', '.join(PROBLEMS)}")
    rules: Any = importlib.import_module(f"dlopt.problems.{problem}")
    if not isinstance(solution, rules.Solution):
        raise NotApplicableError(f"a {type(solution).__name__} is no solution of {problem}")
    module = importlib.import_module(f"dlopt.plotting.{problem}")
    chart: Any = getattr(module, _CHARTS[problem])(instance, solution)
    figure: Figure = chart.draw(title, note, violations)
    return figure


def draw_figure(draw: Callable[[], Figure], path: str | os.PathLike[str] | None) -> Figure:
    """Return a figure drawn with matplotlib's default settings, and write it if a path is given.

    Raises
    ------
    NotApplicableError
        If the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    # A path that cannot be written is reported before drawing, not after it.
    target = None if path is None else _target(path)
    _require_matplotlib()
    with _SETTINGS, _settings():
        figure = draw()
        if target is not None:
            content = _rendered(figure, target.suffix.lower()[1:])
            with replacing(target) as file:
                file.write(content)
    return figure


def _solution_of(result: Result[Any]) -> object:
    if result.solution is None:
        reason = f" ({result.reason})" if result.reason else ""
        raise NotApplicableError(f"no schedule to draw: the result is {result.status}{reason}")
    return result.solution


def _require_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot") from error


def _settings() -> Any:
    """Return a context with matplotlib's own defaults, whatever the user has configured.

    It puts the user's settings back afterwards; they belong to the whole process, which is why
    one thread at a time may draw. Without a fixed salt the identifiers in an SVG differ between
    runs; font type 42 is what journals ask for.
    """
    import matplotlib.style

    own = {"svg.hashsalt": "dlopt", "pdf.fonttype": 42, "hatch.linewidth": 0.5}
    return matplotlib.style.context(["default", own])


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file to write, links followed so that a link stays one."""
    name = os.fsdecode(path)
    if Path(name).suffix.lower() not in SUFFIXES:
        raise NotApplicableError(f"cannot draw to {name!r}: must end in {', '.join(SUFFIXES)}")
    try:
        target = Path(os.path.realpath(name))
        found = target.parent.is_dir()
    except (OSError, ValueError) as error:
        raise NotApplicableError(f"cannot write {name!r}: {error}") from error
    if not found:
        raise NotApplicableError(f"cannot write {name!r}: its folder does not exist")
    return target


def _rendered(figure: Figure, form: str) -> bytes:
    """Return the bytes of the picture, without the date that would make them differ."""
    dates = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {dates[form]: None} if form in dates else None
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, dpi=DPI, metadata=metadata)
    return buffer.getvalue()
