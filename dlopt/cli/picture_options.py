"""The options of commands that draw: the size of pictures, and their titles."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypedDict

from dlopt.cli.help_texts import option
from dlopt.cli.options import OUTPUT

Width = Annotated[
    float | None,
    option(
        "--width INCHES",
        "Width of the picture; 3.5 is one column of a paper.",
        "7",
        panel=OUTPUT,
        min=2.5,
        max=40,
    ),
]
NoTitle = Annotated[
    bool, option("--no-title", "Draw the picture without title and subtitle.", panel=OUTPUT)
]
Dpi = Annotated[
    int | None,
    option("--dpi N", "Dots per inch of a .png file.", "200", panel=OUTPUT, min=10, max=2400),
]


class PageArguments(TypedDict, total=False):
    """The arguments of the functions that draw a page."""

    title: str | None
    width: float
    dpi: int


class PictureStyle(NamedTuple):
    """What --width, --no-title and --dpi say of a picture."""

    width: float | None = None
    no_title: bool = False
    dpi: int | None = None

    def page(self, title: str = "") -> PageArguments:
        """Return the arguments of the functions that draw, with the title unless none is wanted."""
        found = PageArguments(title=None if self.no_title else title)
        if self.width is not None:
            found["width"] = self.width
        if self.dpi is not None:
            found["dpi"] = self.dpi
        return found
