"""Temporary files and folders that are removed even if the process that made them was killed.

That process holds a lock on them, which the system releases however the process ends. A file that
has such a name and no lock is left over: the next process that makes one in the same place removes
it. Locks also work for writers on other machines or in other containers, where process numbers
mean nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: nobody knows who lives, so nothing is removed
    fcntl = None  # type: ignore[assignment]

_PART = ".dlopt-part"
_FILE = re.compile(rf"\..+\.[a-z0-9_]{{8}}\{_PART}", re.DOTALL)
_MOST_LETTERS = 50
"""Of a name, so that there is room for more where a name has 255 bytes at the most."""
_PREFIX = "dlopt-run-"
_FOLDER = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")
_LOCK = ".lock"

_SEEN: set[str] = set()
"""Where this process has looked for leftovers: once is enough, folders may be large."""
_OWN: dict[str, int] = {}
"""The temporary folders of this process, and the process: a fork does not own them."""


class Part:
    """A file that is to become `target`, in the same folder, locked until `close`.

    Parameters
    ----------
    target : Path

    Attributes
    ----------
    name : str
    handle : int
        Open for writing; to be closed by the writer.
    """

    def __init__(self, target: Path) -> None:
        folder = target.parent
        _remove_once(folder, _FILE, _remove_file)
        while True:
            self.handle, self.name = tempfile.mkstemp(
                dir=folder, prefix=f".{target.name[:_MOST_LETTERS]}.", suffix=_PART
            )
            if _hold(self.handle, self.name):
                break
            os.close(self.handle)  # taken for a leftover in the moment before it was locked
        # The lock lasts until the last duplicate is closed. Windows renames no file that is open.
        self._lock = None if fcntl is None else os.dup(self.handle)

    def close(self) -> None:
        """Let go of the lock; remove the file unless it has become the target."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.name)
        if self._lock is not None:
            os.close(self._lock)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for temporary files, and remove it with all that is in it.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     _ = (folder / "a.txt").write_text("a")
    >>> folder.exists()
    False
    """
    path, lock = _made_folder()
    _OWN[str(path)] = os.getpid()
    try:
        yield path
    finally:
        if _OWN.get(str(path)) == os.getpid():
            shutil.rmtree(path, ignore_errors=True)
        _OWN.pop(str(path), None)  # only now: what is broken off is removed at the end
        os.close(lock)


def remove_own_folders() -> None:
    """Remove the temporary folders of this process, which is about to end."""
    for path, owner in list(_OWN.items()):
        if owner == os.getpid():
            shutil.rmtree(path, ignore_errors=True)


def _made_folder() -> tuple[Path, int]:
    home = Path(tempfile.gettempdir())
    _remove_once(home, _FOLDER, _remove_folder)
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
        name = path / _LOCK
        with contextlib.suppress(FileNotFoundError):  # taken for a leftover
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            if _hold(lock, name):
                return path, lock
            os.close(lock)


def _hold(handle: int, name: str | Path) -> bool:
    """Lock a file that was just made; tell whether it is still there."""
    if fcntl is None:  # pragma: no cover - Windows
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # pragma: no cover - a file system without locks, where nothing is removed
        return True
    return _is_at(handle, name)


def _is_at(handle: int, name: str | Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(name))
    except FileNotFoundError:
        return False


def _remove_once(folder: Path, names: re.Pattern[str], remove: Callable[[str], None]) -> None:
    """Remove what is left over in a folder, if this process has not looked there before."""
    key = f"{names.pattern} {os.path.realpath(folder)}"
    if fcntl is None or key in _SEEN:
        return
    _SEEN.add(key)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [entry.path for entry in entries if names.fullmatch(entry.name)]
        for path in found:
            with contextlib.suppress(OSError):  # another one was faster, or it is not ours
                remove(path)


def _remove_file(path: str) -> None:
    with _locked(path) as lock:
        if _is_at(lock, path):
            os.unlink(path)


def _remove_folder(path: str) -> None:
    state = os.lstat(path)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
        return
    name = os.path.join(path, _LOCK)
    if not os.path.lexists(name):
        os.rmdir(path)  # fails unless it is empty
        return
    with _locked(name) as lock:
        if _is_at(lock, name):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[int]:
    """Open and lock a regular file of this user's; raise `OSError` if somebody writes it."""
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
            raise PermissionError(path)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield handle
    finally:
        os.close(handle)
