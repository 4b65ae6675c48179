"""Rows of tables as data frames; pandas is imported on use."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from dlopt.arithmetic import nearest_float
from dlopt.errors import MissingExtraError
from dlopt.presentation.layout import Row

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(rows: Iterable[Row]) -> DataFrame:
    """Return a data frame with a row for each mapping; fractions become floats.

    A lexicographic value stays a tuple, in one cell.

    Raises
    ------
    MissingExtraError
        If pandas is not installed.

    Examples
    --------
    >>> data_frame([{"method": "opr", "value": Fraction(32, 5)}])["value"].sum()
    np.float64(6.4)
    """
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("pandas", "frames") from error
    return DataFrame([{name: in_frame(value) for name, value in row.items()} for row in rows])


def in_frame(value: object) -> object:
    """Return a value as a frame holds it: fractions as floats, if they have the range of floats.

    Examples
    --------
    >>> in_frame(Fraction(1, 4)), in_frame((Fraction(1, 2), 3)), in_frame("a")
    (0.25, (0.5, 3), 'a')
    """
    if isinstance(value, tuple):
        return tuple(map(in_frame, value))
    if isinstance(value, Fraction):
        size = nearest_float(value)
        return value if size is None else size
    return value
