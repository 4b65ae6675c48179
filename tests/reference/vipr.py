"""Reads a VIPR file, and derives each of its steps again, in fractions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction


class RefusedError(Exception):
    """The certificate is not accepted; the text says why."""


Terms = dict[int, Fraction]

NAME = re.compile(r"[a-z]+(_(0|[1-9][0-9]{0,18}))*")
"""What a variable is called: so that no two names mean one thing."""
INDEX = re.compile(r"0|[1-9][0-9]{0,18}")
WHOLE = re.compile(r"[0-9]{1,4000}")
NUMBER = re.compile(r"[+-]?[0-9]{1,4000}(/[0-9]{1,4000}|\.[0-9]{0,4000})?")
BLANKS = re.compile(r"[ \t\r]+")


@dataclass
class Row:
    """A linear constraint; `sense` is "G" (at least), "L" (at most) or "E" (equal).

    `last_use` is the largest number of a step that may use it; None if that is not stated.
    """

    name: str
    sense: str
    rhs: Fraction
    terms: Terms
    assumptions: frozenset[int] = frozenset()
    last_use: int | None = None

    def bounds_below(self) -> bool:
        return self.sense in "GE"

    def bounds_above(self) -> bool:
        return self.sense in "LE"

    def is_never_satisfied(self) -> bool:
        if self.terms:
            return False
        below, above = self.bounds_below(), self.bounds_above()
        return (below and self.rhs > 0) or (above and self.rhs < 0)

    def implies(self, other: Row) -> bool:
        """Whether each point that satisfies this row satisfies the other one."""
        if self.is_never_satisfied():
            return True
        if self.terms != other.terms:
            return False
        at_least = not other.bounds_below() or (self.bounds_below() and self.rhs >= other.rhs)
        at_most = not other.bounds_above() or (self.bounds_above() and self.rhs <= other.rhs)
        return at_least and at_most


@dataclass
class Step:
    """A derived row, the rule by which it is derived, and the words after the rule."""

    row: Row
    rule: str
    words: list[str]


@dataclass
class File:
    """The sections of a VIPR file. `claim` is None where the program is said to be infeasible."""

    remarks: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    integral: set[int] = field(default_factory=set)
    objective: Terms = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    claim: Fraction | None = None
    steps: list[Step] = field(default_factory=list)


def read(text: str) -> File:
    """Return the sections of a file.

    Raises
    ------
    RefusedError
        If the file is not complete, or has what certificates of dlopt never have.
    """
    file = File(remarks=_remarks(text))
    lines = (line for line in text.split("\n") if not line.startswith("%"))
    words = iter([word for line in lines for word in BLANKS.split(line) if word])
    try:
        _read_sections(file, words)
    except (StopIteration, ValueError, ZeroDivisionError):
        raise RefusedError("the file is not complete, or a number is none") from None
    return file


def _remarks(text: str) -> dict[str, str]:
    """Return the remarks of the form `% name: value`; of two with one name the last."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        name, colon, value = line.partition(":")
        if name.startswith("%") and colon:
            found[name[1:].strip()] = value.strip()
    return found


def _read_sections(file: File, words: Iterator[str]) -> None:
    _expect(words, "VER")
    _expect(words, "1.0", "1.1")
    _expect(words, "VAR")
    file.variables = [next(words) for _ in range(_whole(next(words)))]
    if len(set(file.variables)) < len(file.variables):
        raise RefusedError("two variables have one name")
    for name in file.variables:
        if not NAME.fullmatch(name):
            raise RefusedError(f"{name} is no name of a variable")
    _expect(words, "INT")
    integral = [_index(next(words), file) for _ in range(_whole(next(words)))]
    file.integral = set(integral)
    if len(file.integral) < len(integral):
        raise RefusedError("a variable is in INT twice")
    _expect(words, "OBJ")
    _expect(words, "min")
    file.objective = _vector(words, file)
    _expect(words, "CON")
    count, bounds = _whole(next(words)), _whole(next(words))
    file.rows = [_row(words, file) for _ in range(count)]
    if bounds > sum(len(row.terms) <= 1 for row in file.rows):
        raise RefusedError("there are more bounds than rows of one variable")
    _expect(words, "RTP")
    word = next(words)
    if word == "range":
        file.claim, above = number_of(next(words)), next(words)
        if above != "inf" and number_of(above) < file.claim:
            raise RefusedError("the range of the claim is empty")
    elif word != "infeas":
        raise RefusedError(f"{word} is no claim")
    _expect(words, "SOL")
    for _ in range(_whole(next(words))):  # points bound the minimum from above: not checked
        next(words)
        _vector(words, file)
    _expect(words, "DER")
    file.steps = [_step(words, file) for _ in range(_whole(next(words)))]
    if next(words, None) is not None:
        raise RefusedError("there is something after the last step")


def _expect(words: Iterator[str], *expected: str) -> None:
    word = next(words)
    if word not in expected:
        raise RefusedError(f"{expected[0]} is expected, not {word}")


def _whole(word: str) -> int:
    if not WHOLE.fullmatch(word):
        raise RefusedError(f"{word[:30]} is no whole number")
    return int(word)


def number_of(word: str) -> Fraction:
    """Return an integer, a fraction or a decimal, without an exponent.

    Raises
    ------
    RefusedError
        If the word is none of these, or has very many digits.
    ZeroDivisionError
    """
    if not NUMBER.fullmatch(word):
        raise RefusedError(f"{word[:30]} is no number")
    return Fraction(word)


def indices_of(name: str, count: int) -> list[int]:
    """Return so many indices that follow the first word of a name; none if there are fewer."""
    words = name.split("_")[1 : count + 1]
    if len(words) < count or not all(map(INDEX.fullmatch, words)):
        return []
    return list(map(int, words))


def _index(word: str, file: File) -> int:
    index = _whole(word)
    if not 0 <= index < len(file.variables):
        raise RefusedError(f"there is no variable {index}")
    return index


def _vector(words: Iterator[str], file: File) -> Terms:
    word = next(words)
    if word == "OBJ":
        return file.objective
    terms: Terms = {}
    for _ in range(_whole(word)):
        index = _index(next(words), file)
        if index in terms:
            raise RefusedError(f"variable {index} is in one row twice")
        terms[index] = number_of(next(words))
    return {index: value for index, value in terms.items() if value}


def _row(words: Iterator[str], file: File) -> Row:
    name, sense, rhs = next(words), next(words), number_of(next(words))
    if sense not in ("G", "L", "E"):
        raise RefusedError(f"{sense} is no sense of a row")
    return Row(name, sense, rhs, _vector(words, file))


def _step(words: Iterator[str], file: File) -> Step:
    row = _row(words, file)
    _expect(words, "{")
    rule, reason = next(words), []
    while (word := next(words)) != "}":
        reason.append(word)
    last_use = next(words)
    if last_use != "-1":
        row.last_use = _whole(last_use)
    return Step(row, rule, reason)


def follow(file: File) -> None:
    """Derive every step again.

    Raises
    ------
    RefusedError
        If a step does not follow from the rows before it, or the last one is not the claim.
    """
    rows = list(file.rows)
    for step in file.steps:
        try:
            step.row.assumptions = _derive(step, rows, file.integral)
        except (ValueError, IndexError, ZeroDivisionError):
            raise RefusedError(f"step {step.row.name} cannot be read") from None
        rows.append(step.row)
    if not file.steps:
        raise RefusedError("there is no step")
    last = rows[-1]
    claim = Row("claim", "G", Fraction(1), {})  # 0 >= 1: there is no point
    if file.claim is not None:
        claim = Row("claim", "G", file.claim, file.objective)
    if last.assumptions or not last.implies(claim):
        raise RefusedError("the last step is not the claim")


def _derive(step: Step, rows: list[Row], integral: set[int]) -> frozenset[int]:
    """Return the assumptions under which the row of a step holds."""
    row = step.row
    if step.rule == "asm":
        if step.words:
            raise RefusedError(f"step {row.name} is assumed for a reason")
        return frozenset({len(rows)})
    if step.rule == "uns":
        return _two_cases(row, [_known(rows, word) for word in step.words], rows, integral)
    if step.rule not in ("lin", "rnd"):
        raise RefusedError(f"step {row.name}: there is no rule {step.rule}")
    found = _combination(step, rows)
    if step.rule == "rnd":
        found = _rounded(found, integral)
    if not found.implies(row):
        raise RefusedError(f"step {row.name} does not follow")
    return found.assumptions


def _known(rows: list[Row], word: str) -> int:
    index = _whole(word)
    if not 0 <= index < len(rows):
        raise RefusedError(f"there is no row {index} yet")
    last_use = rows[index].last_use
    if last_use is not None and last_use < len(rows):  # the number of the step that uses it
        raise RefusedError(f"row {index} is used after its last use")
    return index


def _combination(step: Step, rows: list[Row]) -> Row:
    """Return the sum of rows times multipliers, which must keep the sense of the step."""
    count, words = _whole(step.words[0]), step.words[1:]
    if len(words) != 2 * count:
        raise RefusedError(f"step {step.row.name} has not {count} multipliers")
    lower, upper = True, True
    found = Row(step.row.name, step.row.sense, Fraction(0), {})
    for index, multiplier in zip(words[::2], map(number_of, words[1::2]), strict=True):
        row = rows[_known(rows, index)]
        if multiplier and row.sense != "E":
            keeps = (row.sense == "G") == (multiplier > 0)  # a bound from below stays one
            lower, upper = lower and keeps, upper and not keeps
        for variable, value in row.terms.items():
            found.terms[variable] = found.terms.get(variable, Fraction(0)) + multiplier * value
        found.rhs += multiplier * row.rhs
        found.assumptions |= row.assumptions
    found.terms = {variable: value for variable, value in found.terms.items() if value}
    if (found.bounds_below() and not lower) or (found.bounds_above() and not upper):
        raise RefusedError(f"step {step.row.name} has a multiplier of the wrong sign")
    return found


def _rounded(row: Row, integral: set[int]) -> Row:
    """Return a row of integral variables and coefficients with its right-hand side rounded."""
    whole = all(v in integral and value.denominator == 1 for v, value in row.terms.items())
    if not whole or row.sense == "E":
        raise RefusedError(f"step {row.name} cannot be rounded")
    rhs = math.ceil(row.rhs) if row.sense == "G" else math.floor(row.rhs)
    return Row(row.name, row.sense, Fraction(rhs), row.terms, row.assumptions)


def _two_cases(row: Row, indices: list[int], rows: list[Row], integral: set[int]) -> frozenset[int]:
    """Return the assumptions that are left where a row holds in both of two cases."""
    first, one, second, other = indices
    if not (rows[first].implies(row) and rows[second].implies(row)):
        raise RefusedError(f"step {row.name} does not hold in both cases")
    below, above = rows[one], rows[other]
    if below.sense == "G":
        below, above = above, below
    if (below.sense, above.sense) != ("L", "G") or below.terms != above.terms:
        raise RefusedError(f"step {row.name} has not two cases of one expression")
    if below.rhs != _rounded(below, integral).rhs or above.rhs != below.rhs + 1:
        raise RefusedError(f"step {row.name} has not the cases of at most k and at least k + 1")
    return (rows[first].assumptions - {one}) | (rows[second].assumptions - {other})
