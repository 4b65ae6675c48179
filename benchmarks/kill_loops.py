"""Crash safety: commands are killed at random moments and restarted; nothing may be lost or left.

    python -m benchmarks.kill_loops [--kills 30] [--seed 0] [--only NAME]

A batch whose runs use CBC, a sweep of grids with ``--rows``, a simulation of a cluster on two
processes, and the writing of a large file: each is started afresh, ended by SIGINT, SIGTERM or
SIGKILL (in turn) at a random moment, and started again. After the kill, all processes with the
command's mark in their environment must have ended within 5 s, though only the command received the
signal, and what it wrote must be readable. The second run must succeed; then the rows are those of
an undisturbed run, once each, and no temporary file is left. The exit code is 1 if that fails.
Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlopt import generate, read, write
from dlopt.batch import read_records
from dlopt.simulation.grid.sweep import read_rows as read_sweep

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
VANISH_S = 5.0
"""Seconds within which everything that a command has started must have ended."""
HANG_S = 120.0
"""A command that takes longer hangs."""
MARK = "DLOPT_KILL_LOOP"
"""Names the variable of the environment by which processes of a run are known."""

Rows = Counter[Hashable]


def has_traceback(text: str) -> bool:
    r"""Tell whether a command, not Python before it could begin, shows a traceback.

    Examples
    --------
    >>> first = 'Traceback (most recent call last):\n  File "<frozen site>", line 616, in <module>'
    >>> has_traceback(first), has_traceback(first + '\n  File "/dlopt/api.py", line 1, in solve')
    (False, True)
    """
    places = re.findall(r'^  File "([^"]*)"', text, flags=re.MULTILINE)
    return "Traceback" in text and any("/dlopt/" in place for place in places)


@dataclass(frozen=True, slots=True)
class KilledCommand:
    """A command that is killed repeatedly."""

    words: tuple[str, ...]
    file: str
    rows: Callable[[Path], Rows]
    appends: bool = True


@dataclass(slots=True)
class KillCounts:
    """Results of all kills of a command."""

    kept: list[int] = field(default_factory=list)
    vanished_s: list[float] = field(default_factory=list)
    files: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each command; return 1 if something was lost or left."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the name of a command")
    asked = parser.parse_args(arguments)
    # Shells let what runs in the background ignore Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(
        f"{'':4}  {'command':9} {'kills':>5} {'rows kept':>11} {'of':>3} {'all ended, s':>12} "
        f"{'left, then removed':>18} {'lost':>4} {'doubled':>7}"
    )
    worst = 0
    with tempfile.TemporaryDirectory(prefix="dlopt-kills-") as name:
        for title, subject in subjects(Path(name)).items():
            if asked.only in title:
                worst |= loop(title, subject, Path(name), asked.kills, asked.seed)
    print(f"seed {asked.seed}, {time.strftime('%Y-%m-%d')}")
    return worst


def subjects(home: Path) -> dict[str, KilledCommand]:
    """Write instances, and return the commands by their names."""
    files = []
    for seed in (1, 2):
        files.append(str(home / f"iit-{seed}.json"))
        write(generate("iit", "random", nodes=6, spread=2, seed=seed), files[-1])
    methods = ("--methods", "exact,bound-fluid", "--set", "solver=PULP_CBC_CMD", "--workers", "2")
    seeds = tuple(word for seed in range(3) for word in ("--seed", str(seed)))
    sizes = ("--tasks", "60", "--queue-sizes", "1,2", "--seeds", "4", "--set", "lans=3")
    two = ("--processes", "2")
    sweep = ("simulate", "grid", *sizes, *two, "--rows", "@")
    cluster = ("simulate", "cluster", "--seeds", "12", *two, "--json")
    large = ("generate", "bag", "--family", "braun", "--set", "tasks=4096", "--out", "@")
    return {
        "batch": KilledCommand(
            ("batch", *files, *methods, *seeds, "--out", "@"), "rows.jsonl", of_batch
        ),
        "grid": KilledCommand(sweep, "rows.jsonl", of_sweep),
        "cluster": KilledCommand(cluster, "", of_points, appends=False),
        "generate": KilledCommand(large, "bag.json", of_instance, appends=False),
    }


def loop(title: str, subject: KilledCommand, home: Path, kills: int, seed: int) -> int:
    """Kill a command many times, print what came of it, and return 1 if something is wrong."""
    folder = home / title
    begun = time.monotonic()
    run = RunningCommand(subject, folder)
    run.ended()
    takes_s, wanted = time.monotonic() - begun, run.rows()
    found, draw = KillCounts(), random.Random(f"{seed}:{title}")
    for number in range(kills):
        shutil.rmtree(folder)
        one(subject, folder, SIGNALS[number % len(SIGNALS)], draw.uniform(0, takes_s), found)
        again = RunningCommand(subject, folder)
        code = again.ended()
        rows = again.rows() if code == 0 else Counter()
        if code:
            found.wrong.append(f"the next run ended with code {code}: {again.stderr_text[-300:]}")
        left = temporary_files(folder)
        if left:
            found.wrong.append(f"the next run left {left}")
        if rows != wanted:
            found.lost += (wanted - rows).total()
            found.doubled += (rows - wanted).total()
            found.wrong.append("the rows are not those of a run that nobody disturbed")
    verdict = "FAIL" if found.wrong else "PASS"
    kept = f"{min(found.kept)} to {max(found.kept)}" if subject.appends else "-"
    print(
        f"{verdict}  {title:9} {kills:5} {kept:>11} {wanted.total():3} "
        f"{max(found.vanished_s):12.2f} {found.files:18} {found.lost:4} {found.doubled:7}",
        flush=True,
    )
    for text in found.wrong[:10]:
        print(f"      {text}", flush=True)
    return int(bool(found.wrong))


def one(
    subject: KilledCommand, folder: Path, number: int, after_s: float, found: KillCounts
) -> None:
    """Kill a command after a time, and see what is left of it."""
    run = RunningCommand(subject, folder)
    with_word = f"{signal.Signals(number).name} after {after_s:.2f} s"
    try:
        run.process.wait(after_s)
    except subprocess.TimeoutExpired:
        run.process.send_signal(number)
    begun = time.monotonic()
    left = alive(run.mark)
    while left and time.monotonic() - begun < VANISH_S:
        time.sleep(0.02)
        left = alive(run.mark)
    found.vanished_s.append(time.monotonic() - begun)
    if left:
        found.wrong.append(f"{with_word}: {', '.join(map(command_of, left))} live on")
        for process in left:
            os.kill(process, signal.SIGKILL)
    run.ended()
    if number != signal.SIGKILL and has_traceback(run.stderr_text):
        found.wrong.append(f"{with_word}: {run.stderr_text[-600:]}")
    found.files += len(temporary_files(folder))
    try:
        found.kept.append(run.rows().total() if subject.appends else 0)
    except ValueError as error:
        found.wrong.append(f"{with_word}: {error}")


class RunningCommand:
    """A running command in a folder, with a mark by which its processes are recognised."""

    def __init__(self, subject: KilledCommand, folder: Path) -> None:
        self.subject, self.mark = subject, uuid.uuid4().hex
        self.file = folder / (subject.file or "out")
        self.stderr_text = ""
        (folder / "tmp").mkdir(parents=True, exist_ok=True)
        words = [str(self.file) if word == "@" else word for word in subject.words]
        out = self.file.open("wb") if not subject.file else None
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dlopt", *words],
            env=os.environ | {MARK: self.mark, "TMPDIR": str(folder / "tmp")},
            stdout=out or subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if out is not None:
            out.close()

    def ended(self) -> int:
        """Wait for the end, also of whatever else has its standard error open; return the code."""
        try:
            _, self.stderr_text = self.process.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit(f"hangs: {' '.join(self.subject.words)}") from None
        return self.process.returncode

    def rows(self) -> Rows:
        """Return what has been written."""
        return self.subject.rows(self.file) if self.file.exists() else Counter()


def alive(mark: str) -> list[int]:
    """Return the processes that have a mark in their environment, and have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has just ended, or is not ours
            continue
    return found


def command_of(process: int) -> str:
    """Return how a process was started, in short."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "one that has ended now"
    return f"{process} ({b' '.join(words)[-120:].decode(errors='replace')})"


def temporary_files(folder: Path) -> list[str]:
    """Return what stands in a folder beside what the command is to write."""
    own = {"rows.jsonl", "bag.json", "out", "tmp"}
    names = {path.name for path in folder.iterdir()} - own
    return sorted(names | {path.name for path in (folder / "tmp").iterdir()})


def of_batch(path: Path) -> Rows:
    """Return the rows of a batch; each line counts."""
    known = {row.key: row for row in read_records(path)}
    lines = path.read_bytes().count(b"\n")
    rows = Counter((row.key, row.status, row.value, row.bound) for row in known.values())
    return rows + Counter(["again"] * max(0, lines - len(known)))


def of_sweep(path: Path) -> Rows:
    """Return the rows of a sweep; each line counts."""
    known = read_sweep(path)
    lines = path.read_bytes().count(b"\n")
    rows = Counter(_timeless(row.to_data()) for row in known)
    return rows + Counter(["again"] * max(0, lines - len(known)))


def of_points(path: Path) -> Rows:
    """Return what a simulation printed: all of it or nothing."""
    text = path.read_text()
    if not text:
        return Counter()
    outcomes = [one for point in json.loads(text)["points"] for one in point["outcomes"]]
    return Counter(map(_timeless, outcomes))


def of_instance(path: Path) -> Rows:
    """Return the instance of a file."""
    return Counter([len(read(path).etc)])  # type: ignore[attr-defined]


def _timeless(data: dict[str, Any]) -> str:
    """Return a row without what takes another time in each run."""
    return json.dumps({name: value for name, value in data.items() if "second" not in name})


if __name__ == "__main__":
    sys.exit(main())
