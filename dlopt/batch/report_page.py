"""The page of the report, made from its template; every text in it is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dlopt.errors import printable
from dlopt.presentation import wording
from dlopt.result import shown_value

if TYPE_CHECKING:
    from jinja2 import Template

_SCIENTIFIC_FROM = 1e6
"""From here on a share is shown by its size alone."""


def render(**parts: Any) -> str:
    """Return the page of `report.html.jinja` with its parts, as HTML."""
    return _template().render(parts)


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined  # it takes a moment to import

    page = Environment(
        autoescape=True,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    page.filters.update(amount=shown_value, percent=percent, seconds=seconds)
    return page.from_string(files(__package__).joinpath("report.html.jinja").read_text("utf-8"))


def _printable(value: object) -> object:
    """Spell the characters of a text that a page would obey, and not show; HTML stays."""
    return printable(value) if type(value) is str else value


def percent(share: float | None) -> str:
    """Return a share in percent, or a dash."""
    if share is None:
        return "-"
    return f"{share:.2%}" if share < _SCIENTIFIC_FROM else f"{share * 100:.3g}%"


def seconds(time: float | None) -> str:
    """Return a duration in seconds or milliseconds."""
    if time is None or time >= 1e-3:
        return wording.seconds(time)
    return f"{time * 1e3:.3g} ms"
