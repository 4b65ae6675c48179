"""The title and the subtitle of a page."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.figure import Figure

from dlopt.plotting.pages import Page
from dlopt.plotting.style import FAINT, INK, SMALL, TITLE_SIZE, broken_lines, clean, fitted

_LINE = 0.14
"""Height of a line of a subtitle, in inches."""


@dataclass(frozen=True, slots=True)
class Titles:
    """What stands above a chart: nothing, or a title and at most two lines of a subtitle.

    Parameters
    ----------
    title : str
    lines : tuple of str
        Of the subtitle.
    left : float
        Where they begin, in inches from the left edge of the page.
    height : float
        In inches; without a title, of the margin.
    """

    title: str
    lines: tuple[str, ...]
    left: float
    height: float

    @classmethod
    def of(cls, page: Page, title: str, subtitle: str, left: float) -> Titles:
        """Return as much of the title and the subtitle of a page as fits it.

        Parameters
        ----------
        page : Page
        title : str
            If the page has no other.
        subtitle : str
        left : float
            Where they begin, in inches.
        """
        if page.title is None:
            return cls("", (), left, 0.1)
        room = page.width - left - 0.1
        # Bold letters are up to an eighth wider than those that are measured.
        shown = fitted(clean(page.title_or(title)), TITLE_SIZE, room / 1.15)
        lines = tuple(broken_lines(clean(subtitle), SMALL, room))
        return cls(shown, lines, left, 0.38 + _LINE * max(1, len(lines)))

    def write(self, figure: Figure) -> None:
        """Write them on a page that has its size."""
        if not self.title and not self.lines:
            return
        width, height = figure.get_size_inches()
        place = self.left / width
        figure.text(
            place,
            1 - 0.22 / height,
            self.title,
            fontsize=TITLE_SIZE,
            fontweight="bold",
            color=INK,
        )
        figure.text(
            place,
            1 - 0.3 / height,
            "\n".join(self.lines),
            fontsize=SMALL,
            color=FAINT,
            va="top",
        )
