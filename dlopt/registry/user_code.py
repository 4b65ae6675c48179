"""Code of others that registers methods: installed plug-ins, modules, and files.

An installed package offers methods through the entry point group ``dlopt.methods``::

    [project.entry-points."dlopt.methods"]
    acme = "acme.scheduling"

An entry point names a module that calls `dlopt.register` when it is imported, or, as
``module:function``, a function without arguments that does.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
import traceback
import warnings
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from dlopt.errors import NotApplicableError, PluginWarning, described
from dlopt.input_files import path_name

ENTRY_POINT_GROUP: Final = "dlopt.methods"
_IMPORTED = "dlopt_imported_"


def load_methods(source: str | os.PathLike[str]) -> ModuleType:
    """Import a module, or run a ``.py`` file once, for the methods that it registers.

    Parameters
    ----------
    source : str or path-like
        Path of a file that ends in ``.py``, or the name of a module.

    Returns
    -------
    module

    Raises
    ------
    NotApplicableError
        If it cannot be imported.

    Examples
    --------
    >>> load_methods("mime")
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: cannot import mime: ModuleNotFoundError: No module named 'mime'
    """
    name = path_name(source)
    if not name.endswith(".py") and os.path.exists(name) and not name.isidentifier():
        raise NotApplicableError(f"cannot import {name}: a file with methods must end in .py")
    try:
        return _import_file(Path(name)) if name.endswith(".py") else importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others, whatever it raises
        raise NotApplicableError(f"cannot import {name}: {cause(error)}") from error


def _import_file(path: Path) -> ModuleType:
    path = path.resolve()
    name = f"{_IMPORTED}{path.stem}_{hash(str(path)) & 0xFFFFFFFF:x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class Plugins:
    """The installed plug-ins, which are loaded once, when their methods are asked for.

    One that fails gives a `PluginWarning` that names it, and the others are loaded all the same.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_loaded = False

    def load(self) -> None:
        """Load all plug-ins, unless they are loaded; other threads wait until that is done."""
        with self._lock:
            if self._is_loaded:
                return
            self._is_loaded = True  # a plug-in may itself ask for methods
            for entry_point in entry_points(group=ENTRY_POINT_GROUP):
                try:
                    _load_plugin(entry_point)
                except KeyboardInterrupt:
                    self._is_loaded = False
                    raise
                except BaseException as error:  # code of others, whatever it raises
                    text = f"the methods of {_named(entry_point)} are missing: {cause(error)}"
                    warnings.warn(text, PluginWarning, stacklevel=3)


def _load_plugin(entry_point: EntryPoint) -> None:
    loaded = entry_point.load()
    if callable(loaded):
        loaded()


def _named(entry_point: EntryPoint) -> str:
    """Return a plug-in with the package that offers it, and its version."""
    package = entry_point.dist
    of = "" if package is None else f" of {package.name} {package.version}"
    return f"the plug-in {entry_point.name!r}{of}"


def cause(error: BaseException) -> str:
    """Return what code of others has raised, and the line of an imported file that led to it."""
    text = described(error)
    if isinstance(error, SystemExit):
        text = f"it ends the program, with {error.code!r}"
    lines = [
        f" ({Path(frame.f_code.co_filename).name}, line {number})"
        for frame, number in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).startswith(_IMPORTED)
    ]
    return text + "".join(lines[-1:])
