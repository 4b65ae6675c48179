"""Mutants: changes to the code that make it wrong, each with the tests that must fail then."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).parent
LIMIT = 300.0
"""Seconds of the tests of one mutant."""
KILLED, SURVIVED, BROKEN = "killed", "SURVIVED", "broken"
_SAID = {0: SURVIVED, 1: KILLED}
_WHY = {2: "not collected", 3: "pytest failed", 4: "no such test", 5: "no test"}
_TAIL = 12


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change, and what must notice it.

    Parameters
    ----------
    area : str
        Name of the list that it is from.
    name : str
    file : str
        Path in the repository.
    old, new : str
        Text that occurs once in the file, and what it becomes.
    killed_by : tuple of str
        Test files, or tests: one at least must fail.
    why : str
        What is wrong then.
    hangs : bool
        Whether tests that do not end count as failed.
    """

    area: str
    name: str
    file: str
    old: str
    new: str
    killed_by: tuple[str, ...]
    why: str
    hangs: bool = False

    def faults(self, root: Path = ROOT) -> list[str]:
        """Return what is wrong with the entry itself."""
        wrong = []
        path = root / self.file
        count = path.read_text(encoding="utf-8").count(self.old) if path.is_file() else None
        if count is None:
            wrong.append(f"no file {self.file}")
        elif count != 1:
            wrong.append(f"the old text occurs {count} times in {self.file}")
        if self.old == self.new:
            wrong.append("the new text is the old one")
        if not self.killed_by:
            wrong.append("no test must kill it")
        for test in self.killed_by:
            file, *names = test.partition("[")[0].split("::")
            text = (root / file).read_text(encoding="utf-8") if (root / file).exists() else None
            if text is None:
                wrong.append(f"no test file {file}")
            elif any(f"def {name}(" not in text and f"class {name}" not in text for name in names):
                wrong.append(f"no test {test}")
        return wrong


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant: killed, survived or broken, and why it is broken."""

    mutant: Mutant
    said: str
    detail: str = ""


def read(folder: Path = LISTS) -> list[Mutant]:
    """Return the mutants of all lists, list by list.

    Raises
    ------
    ValueError
        If an entry has other fields than `Mutant`, or two have one name.
    """
    found = []
    known = {field.name for field in fields(Mutant)} - {"area"}
    for path in sorted(folder.glob("*.toml")):
        with path.open("rb") as file:
            entries = tomllib.load(file)["mutant"]
        for entry in entries:
            if not known - {"hangs"} <= set(entry) <= known:
                odd = sorted((known - {"hangs"}) ^ (set(entry) - {"hangs"}))
                raise ValueError(f"{path.name}: {entry.get('name')}: fields {', '.join(odd)}")
            tests = tuple(entry.pop("killed_by"))
            found.append(Mutant(path.stem, **entry, killed_by=tests))
    names = [mutant.name for mutant in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two mutants are named {', '.join(twice)}")
    return found


def tree(root: Path) -> Iterator[Path]:
    """Yield the files of a repository, without those that it ignores."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
        paths: Iterable[Path] = (root / name for name in listed.stdout.split("\0") if name)
    else:
        paths = sorted(root.rglob("*"))
    for path in paths:
        if path.is_symlink() or path.is_file():
            yield path.relative_to(root)


def copy(root: Path, target: Path) -> Path:
    """Copy the files of a repository, links as links."""
    for name in tree(root):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name, follow_symlinks=False)
    return target


def run(folder: Path, tests: Sequence[str], limit: float, cache: Path) -> tuple[int | None, str]:
    """Run tests in a copy; return the exit code, None if they did not end, and what was said.

    No bytecode is kept: it is told apart by seconds and sizes only, and a mutant may differ in
    neither. What numba compiles is kept in a folder of its own.
    """
    options = ["-q", "-x", "--no-cov", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(cache),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=folder,
            env=environment,
            timeout=limit,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return None, f"no end within {limit:g} s"
    return done.returncode, "\n".join(done.stdout.splitlines()[-_TAIL:])


def tried(mutant: Mutant, folder: Path, limit: float = LIMIT) -> Outcome:
    """Apply a mutant in a copy of the repository, run its tests, and take it back."""
    wrong = mutant.faults(folder)
    if wrong:
        return Outcome(mutant, BROKEN, "; ".join(wrong))
    path = folder / mutant.file
    text = path.read_text(encoding="utf-8")
    # What numba has kept of a caller contains what it called: not to be used once that differs.
    cache = folder.parent / f"{folder.name}-numba"
    if "numba" in text or "njit" in text:
        cache = Path(tempfile.mkdtemp(prefix="numba-", dir=folder.parent))
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code, said = run(folder, mutant.killed_by, limit, cache)
    finally:
        path.write_text(text, encoding="utf-8")
    if code is None:
        return Outcome(mutant, KILLED, "hangs") if mutant.hangs else Outcome(mutant, BROKEN, said)
    detail = "" if code in _SAID else f"{_WHY.get(code, f'exit code {code}')}: {said}"
    return Outcome(mutant, _SAID.get(code, BROKEN), detail)


def try_all(
    mutants: Sequence[Mutant], root: Path = ROOT, jobs: int = 1, limit: float = LIMIT
) -> Iterator[Outcome]:
    """Try mutants in their order, each in a copy of the repository that nobody else uses.

    Yields
    ------
    Outcome

    Raises
    ------
    RuntimeError
        If their tests fail without any mutant.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(max(1, min(jobs, len(mutants)))):
            copies.put(copy(root, Path(name) / str(number)))
        first = copies.get()
        tests = list(dict.fromkeys(test for one in mutants for test in one.killed_by))
        code, said = run(first, tests, limit * max(1, len(mutants)), Path(name) / "0-numba")
        copies.put(first)
        if tests and code != 0:
            raise RuntimeError(f"the tests fail without a mutant:\n{said}")

        def one(mutant: Mutant) -> Outcome:
            folder = copies.get()
            try:
                return tried(mutant, folder, limit)
            finally:
                copies.put(folder)

        with ThreadPoolExecutor(max(1, jobs)) as pool:
            yield from pool.map(one, mutants)
