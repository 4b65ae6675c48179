"""Pictures of plans: `plot` draws one and may write it to a file.

The drawings need matplotlib (``pip install 'dlopt[plot]'``), which is imported on use. They use
neither pyplot nor a window system, so they work in servers and batch jobs alike.
"""

from __future__ import annotations

import importlib
import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.json_files import replacing
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Violation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROBLEMS = ("iit", "admission", "multistage", "coreservation", "dag", "bag")
"""The problems that have a drawing."""

SUFFIXES = (".svg", ".png", ".pdf")
"""The endings of the files that `plot` writes."""

DPI = 200
"""Dots per inch of PNG files, and of whatever is too dense to be drawn as vectors."""

_SETTINGS = threading.Lock()


def plot(
    instance: Header,
    solution: object,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
) -> Figure:
    """Draw a plan, and write the picture if a path is given.

    Parameters
    ----------
    instance : Instance
        Of a problem in `PROBLEMS`.
    solution : Solution or Result
        A plan of that problem, or the result that holds one; then method and status stand under
        the title, and whatever the plan of a flawed method breaks is outlined.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf. The file appears complete or not at all. Equal input and
        equal versions of matplotlib give equal bytes.
    title : str, optional
        Instead of the name of the instance.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If there is no plan, no drawing of such a plan, or the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk, Instance, Solution
    >>> one = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    >>> figure = plot(one, Solution((Chunk(0, 1, 0, 1, 1, 2),)))
    >>> figure.axes[0].get_xlabel()
    'time'
    """
    note, violations = "", tuple[Violation, ...]()
    if isinstance(solution, Result):
        note = ", ".join(word for word in (solution.method, str(solution.status)) if word)
        violations, solution = solution.violations, _plan_of(solution)
    problem = getattr(instance, "problem", type(instance).__name__)
    if problem not in PROBLEMS:
        raise NotApplicableError(f"no drawing of {problem!r}, only of {', '.join(PROBLEMS)}")

    def draw() -> Figure:
        stem: Any = importlib.import_module(f"dlopt.plotting.{problem}")
        figure: Figure = stem.draw(
            instance, solution, title=title, note=note, violations=violations
        )
        return figure

    return drawn(draw, path)


def drawn(draw: Callable[[], Figure], path: str | os.PathLike[str] | None) -> Figure:
    """Return a figure, and write it if a path is given; matplotlib's own settings hold meanwhile.

    Raises
    ------
    NotApplicableError
        If the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    # A path that cannot be written is told before the work of drawing, not after it.
    target = None if path is None else _target(path)
    _require_matplotlib()
    with _SETTINGS, _settings():
        figure = draw()
        if target is not None:
            content = _rendered(figure, target.suffix.lower()[1:])
            with replacing(target) as file:
                file.write(content)
    return figure


def _plan_of(result: Result[Any]) -> object:
    if result.solution is None:
        reason = f" ({result.reason})" if result.reason else ""
        raise NotApplicableError(f"no plan to draw: the result is {result.status}{reason}")
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
