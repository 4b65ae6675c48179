"""Base classes of what callers look at: a short text, HTML in notebooks, and data frames.

How they look is written in `dlopt.presentation`, which is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, ClassVar

from dlopt.arithmetic import PrintableRecord
from dlopt.errors import NotApplicableError

if TYPE_CHECKING:
    from pandas import DataFrame


class PresentedRecord(PrintableRecord):
    """A record whose text is a short summary; its `repr` has every field.

    Attributes
    ----------
    PRESENTED_BY : str
        The module with `text_of` and `html_of` of such records.
    """

    __slots__ = ()

    PRESENTED_BY: ClassVar[str]

    def __str__(self) -> str:
        text: str = importlib.import_module(self.PRESENTED_BY).text_of(self)
        return text

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        html: str = importlib.import_module(self.PRESENTED_BY).html_of(self)
        return html


class TabularRecord(PresentedRecord):
    """A presented record with tables, which can be had as data frames.

    The module `PRESENTED_BY` also has `tables_of`.
    """

    __slots__ = ()

    def to_frame(self, table: str | None = None) -> DataFrame:
        """Return one of the tables as a data frame, a row for each entry.

        Fractions become floats; `dlopt.solve` returns them exactly.

        Parameters
        ----------
        table : str, optional
            By default the chunks, shares or placements of a result, and the methods of a
            comparison. A result of ``admission`` also has ``decisions``, for example.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        NotApplicableError
            If there is no such table; the message lists the tables that there are.
        """
        tables = importlib.import_module(self.PRESENTED_BY).tables_of(self)
        name = next(iter(tables), None) if table is None else table
        if name not in tables:
            known = ", ".join(tables)
            text = f"there is no table {name!r} (known: {known})" if known else "there is no plan"
            raise NotApplicableError(text)
        frames = importlib.import_module("dlopt.presentation.frames")
        frame: DataFrame = frames.data_frame(tables[name])
        return frame
