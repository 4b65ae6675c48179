"""Mutation test of certificates: no altered one that is accepted proves too much.

    python -m benchmarks.altered_certificates [--stem STEM] [--count N]

Half of the alterations are to the text: numbers, signs and senses changed, lines dropped, doubled
and swapped, cuts and whole certificates of other instances. The others forge the program (a row or
a bound tightened, an invalid cut, a forced acceptance, a changed cost) and prove the forged program
correctly, so that only `certified` of the problem can reject it. For `iit`, `dag`, `bag`
and `coreservation` these are the certificates of neighbouring instances, which differ in one number
or lack an edge or a machine, with the remarks of the right one.

Prints the numbers of certificates that were unreadable, had an invalid derivation (`proof`), were
not for the program of the instance (`program`), or were accepted with a valid bound (`true`). None
may be accepted with a bound that is better than the optimum, which is known by another search
(`false`).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from benchmarks import neighbouring_instances as neighbours
from benchmarks.certified_instances import SUBJECTS, TASKS, CertifiedInstance
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.linear_program import LinearProgram
from dlopt.formats import vipr
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.proof_sequences import SequenceProgram
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.upper_bounds import certificate_remarks
from dlopt.models.admission.window_capacity import WindowCapacity
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.models.common.named_rows import NamedRow
from dlopt.models.common.searched_program import ProofError
from dlopt.models.multistage.fluid_relaxation import ReservationFluidRelaxation
from dlopt.models.multistage.scaled_instance import ScaledInstance as ScaledReservationInstance

_SUBPROBLEMS = 30
"""Limit on the branch-and-bound nodes of a forged proof."""
_FACTORS = tuple(Fraction(n, 100) for n in (0, 25, 50, 75, 90, 99))
_ROW = (
    r"(?:row|cut|[abtzqyxrm]_|w_|assigned|release|monotone|precedence|capacity|conflict|symmetry|total|tardy|task|place"
    r"|[ps]_|promised|present|next|start|due|pair|both|window|equal"
    r"|accepted|piece|count|knapsack|level|load|first|order|nodes|chunk|time|channel|limit|ready|later"
    r"|received|[nx]_|sent|end|channel|nodes|sending|busy|chunks|[qh]_|reserved|full)\S* [GL] "
)
_TENTHS = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100))


def altered_text(subject: CertifiedInstance, draw: random.Random) -> str:
    """Return the certificate of a subject with one to three changes to its text."""
    lines = subject.text.splitlines()
    for _ in range(draw.choice((1, 1, 2, 3))):
        change: Callable[[list[str], random.Random, CertifiedInstance], None] = draw.choice(
            _CHANGES
        )
        change(lines, draw, draw.choice(SUBJECTS[subject.stem]))
    return "\n".join(lines) + "\n"


def _number(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Change a number to another one."""
    at = draw.randrange(len(lines))
    found = list(re.finditer(r"(?<![\w.])-?\d+(?:/\d+)?(?![\w.])", lines[at]))
    if found:
        one = draw.choice(found)
        before = Fraction(one.group())
        after = draw.choice(
            (
                -before,
                before + 1,
                before - 1,
                before * 2,
                before / 2,
                Fraction(0),
                before + Fraction(1, 3),
            )
        )
        lines[at] = f"{lines[at][: one.start()]}{after}{lines[at][one.end() :]}"


def _sense(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Turn a constraint or a step round."""
    places = [i for i, line in enumerate(lines) if re.match(r"\S+ [GL] ", line)]
    at = draw.choice(places)
    name, letter, rest = lines[at].split(" ", 2)
    lines[at] = f"{name} {'L' if letter == 'G' else 'G'} {rest}"


def _drop(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Leave a line out, and count one less where it is counted."""
    at = draw.randrange(len(lines))
    counted = re.match(r"\S+ [GL] ", lines[at])
    del lines[at]
    if counted:
        _count(lines, at, -1)


def _double(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Say a line twice, and count one more where it is counted."""
    at = draw.randrange(len(lines))
    lines.insert(at, lines[at])
    if re.match(r"\S+ [GL] ", lines[at]):
        _count(lines, at, 1)


def _swap(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Exchange two lines."""
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _exchange(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Give a constraint the sides and terms of another one, maybe of another instance."""
    source = draw.choice((lines, other.text.splitlines()))
    bodies = [line for line in source if re.match(_ROW, line)]
    places = [i for i, line in enumerate(lines) if re.match(_ROW, line)]
    if places and bodies:
        at = draw.choice(places)
        lines[at] = f"{lines[at].split(' ', 1)[0]} {draw.choice(bodies).split(' ', 1)[1]}"


def _another(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Take the certificate of another instance."""
    lines[:] = other.text.splitlines()


def _last_use(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Say that steps are used for the last time earlier, or at another step."""
    places = [k for k, line in enumerate(lines) if "}" in line]
    for at in draw.sample(places, min(len(places), draw.choice((1, 1, 3)))):
        step, _, number = lines[at].rpartition(" ")
        if re.fullmatch(r"-?\d+", number):
            lines[at] = f"{step} {max(-1, int(number) + draw.choice((-9, -1, -1, -1, 1)))}"


def _chunks(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Say another number of chunks."""
    lines[:] = [
        f"% chunks: {draw.choice(('1', '2', '3', 'any', '0'))}" if "% chunks" in line else line
        for line in lines
    ]


def _integers(lines: list[str], draw: random.Random, other: CertifiedInstance) -> None:
    """Say that all columns are integral."""
    at = next((k for k, line in enumerate(lines) if line.startswith("INT ")), None)
    names = next((k for k, line in enumerate(lines) if line.startswith("VAR ")), None)
    if at is not None and names is not None and at + 1 < len(lines):
        count = len(lines[names + 1].split())
        lines[at : at + 2] = [f"INT {count}", " ".join(map(str, range(count)))]


def _count(lines: list[str], at: int, by: int) -> None:
    """Change the number of constraints or of steps that a line belongs to."""
    for line in range(min(at, len(lines) - 1), -1, -1):
        found = re.match(r"(CON|DER) (\d+)(.*)", lines[line])
        if found:
            lines[line] = f"{found[1]} {int(found[2]) + by}{found[3]}"
            return


_CHANGES = (
    *(_number,) * 6,
    *(_sense, _drop, _double, _swap) * 2,
    *(_exchange,) * 3,
    _integers,
    _last_use,
    _another,
    _chunks,
)


def forged(subject: CertifiedInstance, draw: random.Random) -> str:
    """Return the honest proof of a program that is not the instance's."""
    if subject.stem in TASKS:
        return _neighbouring(subject, draw)
    if subject.by_spans:
        return _forged_spans(subject, draw)
    if subject.stem == "multistage":
        return _forged_around(subject, draw)
    scaled = ScaledInstance.from_instance(subject.instance, subject.objective)
    if subject.by_order:
        return _forged_order(subject, scaled, draw)
    model = FluidRelaxation(scaled)
    program = model.maximise_weight()
    cuts = list(_cuts(subject, model, draw)) if draw.random() < 0.7 else []
    if not cuts or draw.random() < 0.2:
        forge = draw.choice((_tighter_row, _tighter_column, _other_cost))
        program = forge(program, model.accepted, draw)
    whole = replace(
        program,
        rows=(*program.rows, *(terms for terms, _ in cuts)),
        row_bounds=(*program.row_bounds, *((None, side) for _, side in cuts)),
    )
    search = BranchAndBound(whole, model.accepted, scaled.value_granularity)
    found = search.minimise(None, _SUBPROBLEMS)
    chunks = draw.choice((subject.installments, subject.installments, 1, 2, "any"))
    remarks = certificate_remarks(None, model, str(chunks), "")
    certificate = search.certificate(found.bound, model.column_names(), remarks)
    return vipr.to_text(replace(certificate, cuts=len(cuts)))


def _forged_order(subject: CertifiedInstance, scaled: ScaledInstance, draw: random.Random) -> str:
    """Return the proof of a better bound by rows over sequences of chunks that say too much."""
    chunks = draw.choice((subject.installments, subject.installments, 1, 2)) or 1
    program = SequenceProgram(scaled, chunks).searched()
    rows = list(program.rows)
    for at in draw.sample(range(len(rows)), min(len(rows), draw.choice((1, 2, 4, 12)))):
        rows[at] = _stronger(rows[at], draw)
    value = subject.optimum[0]
    if subject.objective == "reject-ratio":
        value = (1 - value) * len(scaled.instance.tasks)
    program = replace(program, rows=tuple(rows))
    for less in (3, 2, 1, 0):
        bound = scaled.value_of_finished - value + less * scaled.value_granularity
        try:
            return vipr.to_text(program.certificate(bound, _SUBPROBLEMS))
        except ProofError:
            continue
    return subject.text


def _forged_spans(subject: CertifiedInstance, draw: random.Random) -> str:
    """Return the proof of a better bound by rows over spans of chunks that say too much."""
    relaxation = subject.span_relaxation(draw.choice((subject.installments or 1, 1, 2)))
    model = relaxation.program()
    rows, sides = list(model.program.rows), list(model.program.row_bounds)
    full = [float(most or 0) for _, most in model.program.column_bounds]
    for terms, *cut in [] if model.separate is None else model.separate(full):
        rows, sides = [*rows, terms], [*sides, (cut[0], cut[1])]
    for at in draw.sample(range(len(rows)), min(len(rows), draw.choice((0, 1, 4, 12)))):
        less, (low, high) = draw.choice(_TENTHS), sides[at]
        sides[at] = (low, high - less) if high is not None else ((low or 0) + less, high)
        column, more = draw.randrange(len(full)), less if high is not None else -less
        rows[at] = tuple((j, a + more if j == column else a) for j, a in rows[at])
    program = replace(model.program, rows=tuple(rows), row_bounds=tuple(sides))
    step = getattr(relaxation, "stream", relaxation.scaled).value_granularity
    search = BranchAndBound(program, model.binaries, step)
    found = search.minimise(None, _SUBPROBLEMS)
    certificate = search.certificate(found.bound, model.column_names, model.remarks)
    return vipr.to_text(replace(certificate, row_names=tuple(model.row_names)))


def _stronger(row: NamedRow, draw: random.Random) -> NamedRow:
    """Return a row with a larger side, or with smaller coefficients."""
    if draw.random() < 0.4:
        return row._replace(lower=(row.lower or 0) + draw.choice((1, 20, *_TENTHS)))
    terms = list(row.terms)
    at = draw.randrange(len(terms))
    column, value = terms[at]
    less = draw.choice((value * draw.choice(_FACTORS), value / draw.choice(_TENTHS), -value))
    terms[at] = column, min(value - Fraction(1, 1000), less)
    return row._replace(terms=tuple(terms))


def _neighbouring(subject: CertifiedInstance, draw: random.Random) -> str:
    """Return the proof of an instance that differs a little, with the remarks of the right one."""
    other = subject.instance
    for _ in range(draw.choice((1, 1, 2))):
        other = neighbours.changed(other, draw)
    neighbour = CertifiedInstance(other, 1, subject.objective)
    if neighbour.result.certificate is None:
        return subject.text
    text = neighbour.text
    ours = [line for line in subject.text.splitlines() if line.startswith("%")]
    theirs = text.splitlines()
    if draw.random() < 0.5:  # with the claim of its own
        kept = draw.choice(
            (
                *("% makespan", "% tardy", "% total", "% order", "% origin", "% unit"),
                *("% rejections", "% groups", "% instants"),
            )
        )
        own = [line for line in theirs if line.startswith(kept)]
        ours = [line for line in ours if not line.startswith(kept)] + own
    return "\n".join([*ours, *(line for line in theirs if not line.startswith("%"))]) + "\n"


def _forged_around(subject: CertifiedInstance, draw: random.Random) -> str:
    """Return the same around reservations, where there are no cuts."""
    scaled = ScaledReservationInstance.from_instance(subject.instance, subject.objective)  # type: ignore[arg-type]
    model = ReservationFluidRelaxation(scaled)
    binaries = model.binaries
    program = model.maximise_weight()
    for _ in range(draw.choice((1, 1, 2))):
        forge = draw.choice((_tighter_row, _tighter_column, _other_cost))
        program = forge(program, binaries, draw)
    search = BranchAndBound(program, binaries, scaled.value_granularity)
    found = search.minimise(None, _SUBPROBLEMS)
    remarks = certificate_remarks(None, model.tasks, "any", "")
    return vipr.to_text(search.certificate(found.bound, model.column_names(), remarks))


def _cuts(subject: CertifiedInstance, model: FluidRelaxation, draw: random.Random) -> Any:
    """Yield cuts of windows that take too much, in one way each."""
    scaled = model.scaled
    windows = WindowCuts(model, subject.installments)
    chosen = [window for batch in windows.batches for window in batch.windows]
    for window in draw.sample(chosen, min(len(chosen), draw.randint(1, 4))):
        capacity = WindowCapacity(scaled, draw.choice((subject.installments, 1)))
        start, end, tasks = window.start, window.end, draw.randrange(len(window.tasks) + 1)
        way = draw.choice(("none", "side", "slope", "load", "start", "end", "nodes", "fewer"))
        if way == "start":
            start += (end - start) * draw.choice(_TENTHS)
        elif way == "end":
            end -= (end - start) * draw.choice(_TENTHS) / 2
        elif way == "nodes":
            kept = scaled.free[:1] + (end,) * (len(scaled.free) - 1)
            capacity = WindowCapacity(replace(scaled, free=kept), subject.installments)
        constant, slope = capacity.chord(start, end, tasks)
        if way == "side":
            constant *= draw.choice(_FACTORS)
        elif way == "slope":
            slope *= draw.choice(_FACTORS)
        more = draw.choice((2, Fraction(11, 10))) if way == "load" else 1
        jobs = window.tasks[: draw.randint(1, len(window.tasks))]
        terms = []
        for i in jobs:
            for flow, column in windows.columns[window.received][i]:
                if (
                    flow.interval >= window.interval
                    if window.received
                    else flow.interval <= window.interval
                ):
                    terms.append((column, scaled.tasks[i].load * more))
            if way != "fewer" or draw.random() < 0.5:
                terms.append((model.accepted[i], -slope))
        yield tuple(terms), constant


def _tighter_row(
    program: LinearProgram, binaries: Sequence[int], draw: random.Random
) -> LinearProgram:
    """Let a row have less."""
    row = draw.randrange(len(program.rows))
    low, high = program.row_bounds[row]
    less = draw.choice(_FACTORS)
    sides = (low, high * less) if high else (low, (high or 0) - less if high is None else high)
    bounds = (*program.row_bounds[:row], sides, *program.row_bounds[row + 1 :])
    return replace(program, row_bounds=bounds)


def _tighter_column(
    program: LinearProgram, binaries: Sequence[int], draw: random.Random
) -> LinearProgram:
    """Let a column be less, or force it to be more."""
    column = draw.choice((draw.randrange(program.columns), draw.choice(binaries)))
    low, high = program.column_bounds[column]
    assert low is not None
    assert high is not None
    sides = draw.choice(((low, max(low, high * draw.choice(_FACTORS))), (high, high)))
    bounds = (*program.column_bounds[:column], sides, *program.column_bounds[column + 1 :])
    return replace(program, column_bounds=bounds)


def _other_cost(
    program: LinearProgram, binaries: Sequence[int], draw: random.Random
) -> LinearProgram:
    """Count a task for less than it is worth."""
    column = draw.choice(binaries)
    costs = list(program.costs)
    costs[column] *= draw.choice(_FACTORS)
    return replace(program, costs=tuple(costs))


def one(draw: random.Random, stem: str = "admission") -> tuple[str, str]:
    """Alter one certificate; return how, and what becomes of it."""
    subject = draw.choice(SUBJECTS[stem])
    if draw.random() < 0.5:
        text = altered_text(subject, draw)
        return "text" if text != subject.text else "same", subject.outcome(text)
    return "forged", subject.outcome(forged(subject, draw))


def main() -> int:
    """Alter certificates; print the counts; 1 if one proves what is false."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stem", choices=sorted(SUBJECTS), default="admission")
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw, counts = random.Random(given.seed), Counter[tuple[str, str]]()
    for _ in range(given.count):
        counts[one(draw, given.stem)] += 1
    for (how, outcome), count in sorted(counts.items()):
        print(f"{how:8} {outcome:12} {count:6}")
    return int(any(outcome == "false" for _, outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
