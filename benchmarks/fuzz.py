"""Fuzzing of the command line with mutants of valid files: only short messages may result.

    python -m benchmarks.fuzz [--count 5000] [--seed 0] [--seconds S] [--only N]

One process runs the commands one after another, as `dlopt.cli.program.run` does; another one
watches it. A finding is an uncaught exception, a command that takes over 10 s or more than 2 GB of
memory, a process that dies, a message that is long or has raw control characters, or an
undocumented exit code. Each is printed with the command, and ``--only N`` repeats it; the mutant
stays in the folder that is printed. The exit code is 1 if there is any.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import IO, Any

from benchmarks.fuzz_mutations import mutated
from benchmarks.fuzz_subjects import FileKind, subjects
from dlopt.child_processes import Child

HANG_S = 10
"""A command that takes longer hangs."""
MEMORY_BYTES = 2 * 1024**3
"""What a command may take more than the process has once everything is imported."""
LONGEST_MESSAGE = 10_000
"""Characters of standard error."""
ROOT = Path(__file__).parents[1]
WORKER = ("-m", "benchmarks.fuzz")
"""How Python is started to run the commands."""
_CODES = frozenset({0, 1, 2, 3, 4, 5})


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants, print the findings, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--only", type=int, default=None, help="repeat one mutant")
    parser.add_argument("--folder", type=Path, default=None, help="where the files are written")
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    first, last = (0, given.count) if given.only is None else (given.only, given.only + 1)
    if given.worker is not None:
        _work(given.folder, given.seed, given.worker, last)
        return 0
    folder = given.folder or Path(tempfile.mkdtemp(prefix="dlopt-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + given.seconds
    codes: Counter[str] = Counter()
    found = 0
    while first < last and time.monotonic() < ends:
        # a worker that hangs or dies is reported, and another one goes on after the mutant
        for report in watched(folder, given.seed, first, last, ends):
            first = report["n"] + 1
            codes[f"{report['kind']}: {report['code']}"] += 1
            if report["finding"]:
                found += 1
                print(f"FINDING {report['n']}: {report['finding']}")
                print(f"  {' '.join(report['command'])}")
                print(
                    f"  again: python -m benchmarks.fuzz --seed {given.seed} --only {report['n']}"
                )
                print(f"  files: {folder}", flush=True)
        if not codes and first == 0:
            raise SystemExit("the worker did not begin")
    print(json.dumps(dict(sorted(codes.items())), indent=1))
    counts = f"{sum(codes.values())} mutants, {found} findings, seed {given.seed}"
    print(f"{'FAIL' if found else 'PASS'} {counts}, {time.strftime('%Y-%m-%d')}")
    return int(found > 0)


def watched(folder: Path, seed: int, first: int, last: int, ends: float) -> Any:
    """Yield a report of each mutant that a worker runs, and of the one that it dies of."""
    command = [sys.executable, *WORKER, "--worker", str(first)]
    command += ["--seed", str(seed), "--count", str(last), "--folder", str(folder)]
    stderr = folder / "worker.txt"
    with stderr.open("wb") as stderr_file:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        around = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        worker = Child(command, stdout=subprocess.PIPE, stderr=stderr_file, text=True, env=around)
        begun: dict[str, Any] | None = None
        try:
            for line in worker.stdout or ():
                report = json.loads(line)
                begun = None if "code" in report else report
                if "code" in report:
                    yield report
                if time.monotonic() > ends:
                    return
        finally:
            worker.kill()
            worker.communicate()
    if begun is None and first == 0 and worker.returncode not in (0, -9):
        raise SystemExit(stderr.read_text(errors="replace"))
    if begun is not None:
        text = (folder / "err").read_text(errors="replace")[-3000:]
        kind = "hangs" if "Timeout" in text else f"died ({worker.returncode})"
        yield {**begun, "code": kind, "finding": f"{kind}\n{text}"}


# The worker -----------------------------------------------------------------------------------


def _work(folder: Path, seed: int, first: int, last: int) -> None:
    """Run mutants in this process, and report each on standard output before and after."""
    reports = os.fdopen(os.dup(1), "w")
    os.chdir(folder)
    out = open(folder / "out", "w+b", buffering=0)  # noqa: SIM115 - open until the process ends
    err = open(folder / "err", "w+b", buffering=0)  # noqa: SIM115
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    files = folder / "valid"
    files.mkdir(exist_ok=True)
    known = subjects(files, lambda *words: _ended(list(words))[0])
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, resource.RLIM_INFINITY))
    for n in range(first, last):
        report: dict[str, Any] = {"n": n, **written(known, folder, seed, n)}
        print(json.dumps(report), file=reports, flush=True)
        out.truncate(0)
        err.truncate(0)
        out.seek(0)
        err.seek(0)
        faulthandler.dump_traceback_later(HANG_S, exit=True, file=err)
        code, raised = _ended(report["command"])
        faulthandler.cancel_dump_traceback_later()
        report["code"] = code
        report["finding"] = raised or finding_of(code, out, err)
        print(json.dumps(report), file=reports, flush=True)


def written(known: list[FileKind], folder: Path, seed: int, n: int) -> dict[str, Any]:
    """Write a mutant, and return its kind and the command that is to read it."""
    rng = random.Random(f"{seed}:{n}")
    subject = known[n % len(known)]
    path = folder / f"mutant{subject.suffix}"
    path.write_bytes(mutated(rng.choice(subject.files).read_bytes(), rng))
    words = [str(path) if word == "@" else word for word in rng.choice(subject.commands)]
    return {"kind": subject.kind, "command": words}


def _ended(words: list[str]) -> tuple[int, str]:
    """Run a command, and return its exit code and the traceback of what came through."""
    from dlopt.cli.program import run as command

    sys.argv = ["dlopt", *words]
    try:
        command()
    except SystemExit as ended:
        return int(ended.code or 0), ""
    except BaseException:
        return -1, traceback.format_exc()
    return 0, ""


def finding_of(code: int, out: IO[bytes], err: IO[bytes]) -> str:
    """Return what is wrong with how a command ended, by its exit code and what it wrote."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    out.seek(0)
    err.seek(0)
    stdout_text, stderr_text = (file.read().decode(errors="surrogateescape") for file in (out, err))
    if code not in _CODES:
        return f"exit code {code}: {stderr_text[:1000]}"
    if "Traceback (most recent call last)" in stderr_text:
        return stderr_text[-3000:]
    if "out of memory" in stderr_text:
        return f"over {MEMORY_BYTES} bytes: {stderr_text[:1000]}"
    if len(stderr_text) > LONGEST_MESSAGE:
        return f"a message of {len(stderr_text)} characters: {stderr_text[:300]!r}"
    if code == 2 and not stderr_text.strip():
        return "bad input without a message"
    for text in (stdout_text, stderr_text):
        raw = [char for char in text if not (char.isprintable() or char == "\n")]
        if raw:
            return f"raw {raw[0]!r} in {text[max(0, text.index(raw[0]) - 60) :][:200]!r}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
