"""Reproduce every figure of the five papers, and print verdicts on their claims.

    python -m benchmarks.papers --list
    python -m benchmarks.papers --quick [--only 4.6,min:5.9,liu]
    python -m benchmarks.papers --full

A figure is named by its number, by its paper (mamat, lin, chen, min, liu), or by both.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers.cli_arguments import FIGURES
from benchmarks.papers.figure_index import MODULES, PAPERS, Entry, entries
from dlopt.child_processes import Child

_VERDICT = re.compile(r"\*\*(?P<word>[^*]+)\*\*[:,]?\s*(?P<numbers>.*)")


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim and its verdict, for one of the variants that a module compares."""

    entry: Entry
    figure: str
    claim: str
    variant: str
    numbers: str
    verdict: str

    def to_markdown(self) -> str:
        """Return the row as Markdown."""
        name = self.figure if self.figure.startswith(self.entry.paper) else f"{self.entry.paper}, "
        name = name if name == self.figure else name + self.figure
        cells = (name, self.claim, self.variant, self.numbers, f"**{self.verdict}**")
        return f"| {' | '.join(cells)} |"


def named(names: str) -> list[Entry]:
    """Return the figures that are named, paper by paper.

    Raises
    ------
    ValueError
        If there is none of some name.
    """
    found: list[Entry] = []
    for name in names.split(","):
        paper, colon, label = name.strip().rpartition(":")
        if not colon and label in PAPERS:
            paper, label = label, ""
        if paper and paper not in PAPERS:
            raise ValueError(f"no paper {paper!r} (known: {', '.join(PAPERS)})")
        mine = [
            entry
            for entry in entries()
            if (not paper or entry.paper == PAPERS[paper]) and (not label or entry.label == label)
        ]
        if not mine:
            raise ValueError(f"no figure {name.strip()!r}; --list names all")
        found += [entry for entry in mine if entry not in found]
    return found


def command(
    module: str, chosen: Sequence[Entry], size: str, out: Path, processes: int
) -> list[str]:
    """Return the command that draws some figures of a module."""
    how = MODULES[module]
    words = [sys.executable, "-m", f"benchmarks.papers.{module}"]
    words += how.quick if size == "quick" else how.full
    everything = [entry for entry in entries() if entry.module == module]
    if how.only and len(chosen) < len(everything):
        names = dict.fromkeys(name for entry in chosen for name in entry.known_as)
        words += ["--only", ",".join(names)]
    words += ["--out", str(out)]
    return words + (["--processes", str(processes)] if how.processes else [])


def rows(text: str, chosen: Sequence[Entry]) -> Iterator[ClaimRow]:
    """Yield what a module's table says of some figures."""
    for variants, cells in _lines(text):
        figure, claim, *answers = cells
        entry = next((entry for entry in chosen if entry.has(figure)), None)
        for variant, answer in zip(variants, answers, strict=False):
            found = _VERDICT.fullmatch(answer)
            if entry is not None and found is not None and found["word"] != "-":
                yield ClaimRow(entry, figure, claim, variant, found["numbers"], found["word"])


def _lines(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the heads of the answers, and the cells, of every line of a table of claims."""
    variants: list[str] | None = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            variants = None
        elif cells[:2] == ["figure", "claim"]:
            variants = cells[2:]
        elif variants is not None and not line.startswith("|--"):
            yield variants, cells


def listing() -> Iterator[str]:
    """Yield all figures and tables as a Markdown table, with what draws them."""
    yield "| paper | figure | what | drawn by | claims that hold | robust | page, pictures |"
    yield "|---|---|---|---|---|---|---|"
    alike: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries():
        key = (entry.paper, entry.what, entry.reason, entry.pictures)
        alike.setdefault(key, []).append(entry)
    for mine in alike.values():
        entry, labels = mine[0], ", ".join(one.label for one in mine)
        links = [f"[{entry.page}]({entry.page}.md)"] if entry.page else []
        links += [
            f"[{words}]({_PICTURES}/{name})"
            for words, name in _captions(entry)
            if (FIGURES / name).exists()
        ]
        by = f"not drawn: {entry.reason}" if entry.module is None else f"`{entry.module}`"
        summaries = verdicts(page(entry), entry), robust(page(entry), entry)
        cells = (entry.paper, labels, entry.what, by, *summaries, ", ".join(links))
        yield f"| {' | '.join(cells)} |"


def page(entry: Entry) -> str:
    """Return the page of results that tells what becomes of an entry; nothing if there is none."""
    path = RESULTS / f"{entry.page}.md"
    return path.read_text(encoding="utf-8") if entry.page and path.exists() else ""


def verdicts(text: str, entry: Entry) -> str:
    """Return how many claims about a figure hold, in part or are open, of each variant."""
    words: dict[str, list[str]] = {}
    for row in rows(text, [entry]):
        words.setdefault(row.variant, []).append(row.verdict)
    parts = []
    for variant, found in words.items():
        count = f"{found.count('holds')} of {len(found)}"
        name = "" if len(words) == 1 else f"{variant}: "
        rest = [
            f"{found.count(word)} {what}"
            for word, what in (("only", "in part"), ("open", "open"))
            if word in found
        ]
        parts.append(f"{name}{count}" + (f" ({', '.join(rest)})" if rest else ""))
    return "; ".join(parts)


def robust(text: str, entry: Entry) -> str:
    """Return how many verdicts about a figure are the same under all other choices.

    Of each variant; a verdict that no other choice was held against does not count.
    """
    found: dict[str, list[bool]] = {}
    for variants, cells in _lines(text):
        figure, _, *answers = cells
        if entry.has(figure):
            for variant, answer in zip(variants, answers, strict=False):
                if variant.endswith(OTHERWISE) or variant == ROBUST:
                    name = variant.removesuffix(OTHERWISE)
                    words = answer.strip("*")
                    if words and words not in _UNTRIED:
                        found.setdefault(name, []).append(words == "robust")
    return "; ".join(
        ("" if name == ROBUST else f"{name}: ") + f"{sum(words)} of {len(words)}"
        for name, words in found.items()
    )


OTHERWISE = ": otherwise"
"""Suffix of the column that says what the verdict of a variant depends on."""
ROBUST = "verdict"
"""Suffix of the column that says what the verdicts of all variants depend on."""
_UNTRIED = ("not simulated", "about GDS alone", "about EDF alone", "-")
RESULTS = Path(__file__).parents[1] / "results"
_PICTURES = "../papers/figures"
"""From the pages of results, one of which is the list."""


def _captions(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield what to call each picture of an entry, and its file."""
    for name in entry.pictures:
        words = [word for word in ("repaired", "as-printed") if name.endswith(f"{word}.svg")]
        words += ["no set-up"] * ("without-set-up" in name) + ["at once"] * ("at-once" in name)
        yield ", ".join(words).replace("-", " ").replace("no set up", "no set-up") or "svg", name


def draw(chosen: Iterable[Entry], size: str, out: Path, processes: int) -> bool:
    """Run the modules of some figures, print one table of all; return whether none failed."""
    chosen = list(chosen)
    print("| figure | claim | of | numbers | verdict |\n|---|---|---|---|---|", flush=True)
    good = True
    for module in MODULES:
        mine = [entry for entry in chosen if entry.module == module]
        if not mine:
            continue
        begun = time.perf_counter()
        words = command(module, mine, size, out, processes)
        print(f"{module}: {' '.join(words[1:])}", file=sys.stderr, flush=True)
        with Child(words, stdout=subprocess.PIPE, text=True) as done:
            said, _ = done.communicate()
        for row in rows(said, mine):
            print(row.to_markdown(), flush=True)
        if done.returncode:
            good = False
            print(f"| {module} | failed, with exit code {done.returncode} | | | |", flush=True)
        print(f"{module}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    for entry in chosen:
        if entry.module is None:
            print(f"| {entry.paper}, {entry.label} | {entry.what} | | {entry.reason} | not drawn |")
    return good


def main() -> int:
    """Run what is asked for; the exit code is 1 if a module failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--list", action="store_true", help="print all figures and what draws them")
    size.add_argument("--quick", action="store_true", help="small: half an hour in all")
    size.add_argument("--full", action="store_true", help="the papers' sizes: hours")
    parser.add_argument("--only", metavar="FIGURE,...", help="such as 4.6,mamat:4.7,liu")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="folder of the pictures")
    given = parser.parse_args()
    if given.list:
        print("\n".join(listing()))
        return 0
    try:
        chosen = named(given.only) if given.only else [one for one in entries() if one.module]
    except ValueError as error:
        parser.error(str(error))
    out = given.out or (FIGURES if given.full else Path("figures"))
    return 0 if draw(chosen, "full" if given.full else "quick", out, given.processes) else 1


if __name__ == "__main__":
    sys.exit(main())
