"""Grids, and the failures of their machines, as JSON files."""

from __future__ import annotations

import os

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.json_files import load_headed, load_json, write_json
from dlopt.problems import validated_record
from dlopt.problems.dag import Outage
from dlopt.simulation.grid.policy import FailureModel
from dlopt.simulation.grid.topology import Grid

VERSION = 1
"""Version of the file format."""
_HEAD = {"grid": Grid.grid, "version": VERSION}


def read_grid(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> Grid:
    """Read a grid from a JSON file: ``{"grid": "lans", "version": 1, ...}``.

    Parameters
    ----------
    path : path-like
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell instead of as floats.

    Raises
    ------
    InvalidInstanceError
        With every fault, by JSON path; also if there is no such file or it is not valid JSON.
    """
    return Grid.from_data(load_headed(path, _HEAD, _grid_faults, exact_numbers=exact_numbers))


def _grid_faults(content: dict[str, object]) -> tuple[Fault, ...]:
    return validated_record.examine(Grid, content)[1]


def write_grid(grid: Grid, path: str | os.PathLike[str]) -> None:
    """Write a grid to a file, which is replaced as a whole.

    Raises
    ------
    NotApplicableError
        If the path cannot be written.
    """
    write_json(path, {**_HEAD, **grid.to_data()})


def read_failures(path: str | os.PathLike[str]) -> tuple[Outage, ...]:
    """Read when machines are down: ``[{"machine": 0, "begin": 5, "until": 9}, ...]``.

    Machines are 0-based, LAN by LAN in a grid that is drawn. Decimals are read as the rationals
    that they spell; without ``until`` a machine stays down.

    Raises
    ------
    InvalidInstanceError
        With every fault, by JSON path; also if there is no such file or it is not valid JSON.
    """
    data = load_json(path, exact_numbers=True)
    values, faults = validated_record.examine(FailureModel, {"failures": data})
    if faults:
        raise InvalidInstanceError(faults, os.fspath(path), as_json=True)
    found: tuple[Outage, ...] = values["failures"]
    return found
