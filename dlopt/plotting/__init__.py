"""Charts of solutions, traces, searches and measures.

`plot` draws a solution, `plot_executed` what became of it, `plot_progress` the incumbent and the
bound of a search, `plot_trace` a simulated grid, and `plot_curves` measures of many runs. All take
the same arguments for the page: `title`, `width`, `dpi` and `ax`.

Charts need matplotlib (``pip install 'dlopt[plot]'``), which is imported on use. They use neither
pyplot nor a window system, so they work in servers and in batch jobs.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dlopt.errors import NotApplicableError, short_text
from dlopt.plotting.executed import plot_executed
from dlopt.plotting.grid_trace import plot_trace
from dlopt.plotting.line_charts import Curve, DataPoint, plot_curves
from dlopt.plotting.pages import DPI, SUFFIXES, WIDTH, Page, draw_figure, svg_bytes
from dlopt.plotting.progress import plot_progress
from dlopt.problems.validated_record import Header
from dlopt.registry import problem
from dlopt.result import Result, Violation, levels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "DPI",
    "PROBLEMS",
    "SUFFIXES",
    "WIDTH",
    "Curve",
    "DataPoint",
    "Page",
    "draw_solution",
    "plot",
    "plot_curves",
    "plot_executed",
    "plot_progress",
    "plot_trace",
    "svg_of",
]

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


def plot(
    instance: Header,
    solution: object,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = "",
    width: float = WIDTH,
    dpi: int = DPI,
    ax: Axes | None = None,
    violations: Sequence[Violation] | None = None,
) -> Figure:
    """Draw a solution, and write the chart to a file if a path is given.

    Solutions with so many bars that none could be distinguished are drawn as the utilization
    of the resources over time.

    Parameters
    ----------
    instance : Instance
        Of a problem in `PROBLEMS`; `instance.units` are written at the axes.
    solution : Solution or Result
        A solution of that problem, or a result with one; then method and status are in the
        subtitle, and its violations are hatched.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf. The file is written completely or not at all. Equal input and
        equal versions of matplotlib give equal bytes.
    title : str, optional
        By default the name of the instance; None for no title and no subtitle, as in a paper that
        has captions.
    width : float, default 7.0
        Width of the page in inches; 3.5 is one column of a paper. The height follows from the
        number of rows. With `ax`, the axes are as large as they are.
    dpi : int, default 200
        Dots per inch of a PNG file, and of what is drawn as pixels in other files.
    ax : matplotlib.axes.Axes, optional
        Draw the chart into these axes of another figure, with the legend below them, and without
        the panels that some charts have below.
    violations : sequence of Violation, optional
        What `dlopt.check` has found, to be hatched and counted; by default those of the result.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If there is no solution, no chart for it, the page is too small or too large, or the file
        cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk, Instance, Solution
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1, units="s")
    >>> figure = plot(instance, Solution((Chunk(0, 1, 0, 1, 1, 2),)), width=3.5)
    >>> figure.axes[0].get_xlabel()
    'time (s)'
    """
    page = Page(title, width, dpi, ax)
    return draw_figure(lambda: _figure(instance, solution, page, violations), path, page)


def _figure(
    instance: Header,
    solution: object,
    page: Page,
    violations: Sequence[Violation] | None = None,
) -> Figure:
    """Draw a solution or a result; of a result, method, status and violations are shown."""
    note, own = "", tuple[Violation, ...]()
    if isinstance(solution, Result):
        from dlopt.plotting.style import DOT

        method = ", ".join(word for word in (solution.method, str(solution.status)) if word)
        words = _other_objective(instance, solution), method
        note = DOT.join(word for word in words if word)
        own, solution = solution.violations, _solution_of(solution)
    found = own if violations is None else violations
    return draw_solution(instance, solution, page=page, note=note, violations=found)


def _other_objective(instance: Header, result: Result[object]) -> str:
    """Return objective and value of a result; nothing for the default objective of its instance."""
    from dlopt.plotting.style import brief

    if not isinstance(instance, Header):  # refused where its chart is looked for
        return ""
    default_objective = problem(instance.problem).module.default_objective
    name = result.objective
    if not name or result.value is None or name == default_objective(instance):
        return ""
    levels = ", ".join(brief(level) for level in levels_of(result.value))
    return f"{name.replace('-', ' ')} {levels}"


def svg_of(instance: Header, result: Result[object]) -> bytes:
    """Return the chart of a result as the content of an SVG file.

    Raises
    ------
    NotApplicableError, MissingExtraError
        As `plot` does.
    """
    return svg_bytes(lambda: _figure(instance, result, Page()))


def draw_solution(
    instance: Header,
    solution: object,
    *,
    page: Page | None = None,
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
    page : Page, optional
    note : str
        Method and status, for the subtitle.
    violations : sequence of Violation
        To be hatched.

    Raises
    ------
    NotApplicableError
        If there is no chart of the problem, or `solution` is none of it, or is empty.
    """
    problem = getattr(instance, "problem", type(instance).__name__)
    violations = tuple(violations) if isinstance(violations, Iterable) else (violations,)
    strange = next((one for one in violations if not isinstance(one, Violation)), None)
    if strange is not None:
        raise NotApplicableError(f"violations are a list of Violation, got {short_text(strange)}")
    if problem not in PROBLEMS:
        raise NotApplicableError(f"no chart of {problem!r}, only of {', '.join(PROBLEMS)}")
    rules: Any = importlib.import_module(f"dlopt.problems.{problem}")
    if not isinstance(solution, rules.Solution):
        raise NotApplicableError(f"a {type(solution).__name__} is no solution of {problem}")
    module = importlib.import_module(f"dlopt.plotting.{problem}")
    chart: Any = getattr(module, _CHARTS[problem])(instance, solution, page or Page(), violations)
    figure: Figure = chart.draw(note)
    return figure


def _solution_of(result: Result[Any]) -> object:
    if result.solution is None:
        reason = f" ({result.reason})" if result.reason else ""
        raise NotApplicableError(f"no schedule to draw: the result is {result.status}{reason}")
    return result.solution
