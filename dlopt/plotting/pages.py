"""Where a chart is drawn, a page of its own or given axes; and the files of pages."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlopt.arithmetic import converted, is_number
from dlopt.errors import MissingExtraError, NotApplicableError, short_text
from dlopt.input_files import path_name
from dlopt.json_files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0
"""Width of a page in inches by default: two columns of a paper."""
DPI = 200
"""Dots per inch of PNG files, and of charts that are too dense for vectors, by default."""
NARROWEST = 2.5
"""Least width of a page in inches."""
WIDEST = 40.0
"""Largest width of a page in inches."""
MOST_DPI = 2400
"""Largest number of dots per inch."""
SUFFIXES = (".svg", ".png", ".pdf")
"""The suffixes of the files that charts are written to."""

_SETTINGS = threading.Lock()


@dataclass(frozen=True, slots=True)
class Page:
    """Where a chart is drawn.

    Parameters
    ----------
    title : str, optional
        In place of the chart's own, which an empty text stands for; None for no title and no
        subtitle.
    width : float
        In inches.
    dpi : int
        Dots per inch of pixels.
    ax : matplotlib.axes.Axes, optional
        Axes of another figure, which keep their place.

    Raises
    ------
    NotApplicableError
        If width or dpi are out of their range, or something has another type.
    MissingExtraError
        If axes are given, and matplotlib is not installed.
    """

    title: str | None = ""
    width: float = WIDTH
    dpi: int = DPI
    ax: Axes | None = None

    def __post_init__(self) -> None:
        limits = (("width", self.width, NARROWEST, WIDEST), ("dpi", self.dpi, 10, MOST_DPI))
        for name, value, least, most in limits:
            if not is_number(converted(value)) or not least <= value <= most:
                text = f"{name} must be {least:g} to {most:g}, got {short_text(value)}"
                raise NotApplicableError(text)
        if self.title is not None and not isinstance(self.title, str):
            raise NotApplicableError(f"title must be a text or None, got {short_text(self.title)}")
        if self.ax is not None:
            require_axes(self.ax)

    def figure_and_axes(self) -> tuple[Figure, Axes]:
        """Return a new figure with axes, or those that are given."""
        from matplotlib.figure import Figure

        if self.ax is None:
            figure = Figure(figsize=(self.width, 1))
            return figure, figure.add_axes((0, 0, 1, 1))
        root: Any = self.ax.get_figure(root=True)
        return root, self.ax

    def axes_size(self) -> tuple[float, float] | None:
        """Return width and height of the given axes in inches; None for a page of its own."""
        if self.ax is None:
            return None
        box = self.ax.get_window_extent()
        dots = self.ax.figure.dpi
        return box.width / dots, box.height / dots

    def title_or(self, own: str) -> str:
        """Return the title to write: the one that was asked for, the chart's own, or none."""
        return "" if self.title is None else self.title or own


def draw_figure(
    draw: Callable[[], Figure], path: str | os.PathLike[str] | None, page: Page
) -> Figure:
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
            content = _rendered(figure, target.suffix.lower()[1:], page.dpi)
            with replacing(target) as file:
                file.write(content)
    return figure


def svg_bytes(draw: Callable[[], Figure]) -> bytes:
    """Return what is drawn as the content of an SVG file.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    _require_matplotlib()
    with _SETTINGS, _settings():
        return _rendered(draw(), "svg", DPI)


def require_axes(ax: object) -> None:
    """Refuse what is no axes, axes of other coordinates, and axes that were removed.

    Raises
    ------
    NotApplicableError
        If `ax` cannot be drawn into.
    MissingExtraError
        If matplotlib is not installed.
    """
    _require_matplotlib()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise NotApplicableError(f"ax must be axes of matplotlib, got {short_text(ax)}")
    if ax.name != "rectilinear" or ax.get_figure() is None:
        raise NotApplicableError(f"ax must be plane axes of a figure, got {short_text(ax)}")


def _require_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot") from error


def _settings() -> Any:
    """Return a context with matplotlib's own defaults, whatever the user has configured.

    It puts the user's settings back afterwards; they belong to the whole process, which is why
    one thread at a time may draw. Without a fixed salt the identifiers in an SVG differ between
    runs; font type 42 is what journals ask for. Names of tasks are no formulas, with dollar signs
    too; texts that given axes have already are set so where they are written.
    """
    import matplotlib.style

    own = {
        "svg.hashsalt": "dlopt",
        "pdf.fonttype": 42,
        "hatch.linewidth": 0.5,
        "text.parse_math": False,
    }
    return matplotlib.style.context(["default", own])


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file to write, links followed so that a link stays one."""
    name = path_name(path)
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


def _rendered(figure: Figure, form: str, dpi: int) -> bytes:
    """Return the bytes of the picture, without the date that would make them differ."""
    dates = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {dates[form]: None} if form in dates else None
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
