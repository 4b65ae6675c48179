"""VIPR files, read token by token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.formats.vipr.certificate import Certificate, Constraint, Step, number, whole

_SIGNS = {"G": 1, "L": -1, "E": 0}
_VERSIONS = ("1.0", "1.1")
_TOKEN = re.compile(r"[^ \t\r\n]+")


def parse(text: str, source: str | None = None) -> Certificate:
    """Read a VIPR file that bounds a minimisation from below; its solutions say nothing of that.

    Raises
    ------
    InvalidInstanceError
        If it is none, with the line.
    """
    certificate = parse_lines(text.split("\n"), source)
    return replace(certificate, steps=tuple(certificate.steps))


def parse_lines(lines: Iterable[str], source: str | None = None) -> Certificate:
    """Read the same of lines, and each step only when it is followed.

    `Certificate.flaw` can be asked once, and raises what `parse` raises of a step.

    Raises
    ------
    InvalidInstanceError
        If what comes before the steps is not that of such a file, with the line.
    """
    reader = _Reader(lines, source)
    with reader.locating_faults():
        return reader.certificate()


class _Reader:
    """Reads the sections of a file, one after the other, with the tokens of one line at a time."""

    def __init__(self, lines: Iterable[str], source: str | None) -> None:
        self.lines, self.source, self.remarks = enumerate(lines, 1), source, dict[str, str]()
        self.tokens, self.position, self.line = list[str](), 0, 1
        self.variables, self.costs = 0, dict[int, Fraction]()
        self.section = self.expected = "VER"

    @contextmanager
    def locating_faults(self) -> Iterator[None]:
        """Say of a fault in which line it is."""
        try:
            yield
        except InvalidInstanceError:  # of the file, which cannot be read on
            raise
        except (ValueError, IndexError) as error:
            is_cut = isinstance(error, IndexError)
            value = MISSING if is_cut else self.tokens[self.position - 1][:30]
            why = f"the file ends, and {self.expected} is expected" if is_cut else error
            rule = f"must be a VIPR 1.0 file (section {self.section}: {why})"
            fault = Fault(f"line {self.line}", value, rule)
            raise InvalidInstanceError([fault], self.source) from error

    def certificate(self) -> Certificate:
        """Read all before the steps."""
        self._begin("VER")
        if self._next("the version") not in _VERSIONS:
            raise ValueError(f"its version is not {' or '.join(_VERSIONS)}")
        self._begin("VAR")
        self.variables = self._count("variables")
        names = tuple(self._next("the name of a variable") for _ in range(self.variables))
        if len(set(names)) < len(names):
            raise ValueError("two variables have one name")
        self._begin("INT")
        integral = [self._variable() for _ in range(self._count("integer variables"))]
        if len(set(integral)) < len(integral):
            raise ValueError("a variable stands twice")
        integers = frozenset(integral)
        self._begin("OBJ")
        self._expect("min")
        self.costs = self._vector()
        self._begin("CON")
        stated = self._count("constraints")
        bounds = self._count("bounds")
        constraints = tuple(
            (self._next("the name of a constraint"), self._constraint()) for _ in range(stated)
        )
        if bounds > sum(len(constraint.terms) <= 1 for _, constraint in constraints):
            raise ValueError("there are more bounds than constraints of one variable")
        claim = self._claim()
        self._begin("SOL")
        for _ in range(self._count("solutions")):
            self._next("the name of a solution")
            self._vector()
        self._begin("DER")
        steps = self._steps(self._count("steps"))
        return Certificate(names, integers, self.costs, constraints, claim, steps, self.remarks)

    def _steps(self, count: int) -> Iterator[Step]:
        """Read the steps, one at a time, and the end of the file."""
        with self.locating_faults():
            for _ in range(count):
                yield self._step()
            if self._has_next():
                self._next("the end of the file")
                raise ValueError("the steps are complete, and the end of the file is expected")

    def _claim(self) -> Fraction | None:
        self._begin("RTP")
        kind = self._next("infeas or range")
        if kind == "infeas":
            return None
        if kind != "range":
            raise ValueError("infeas or range is expected")
        low = self._number("the least value")
        if self._next("the largest value") != "inf":
            self.position -= 1
            if self._number("the largest value, or inf,") < low:
                raise ValueError("the range is empty")
        return low

    def _step(self) -> Step:
        name, constraint = self._next("the name of a step"), self._constraint()
        self._expect("{")
        reason = tuple(iter(lambda: self._next("}"), "}"))
        if self._next("the last use of a step") == "-1":
            return name, constraint, reason, None
        self.position -= 1
        return name, constraint, reason, self._whole("the last use of a step, or -1,")

    def _constraint(self) -> Constraint:
        sign = _SIGNS.get(self._next("G, L or E"))
        if sign is None:
            raise ValueError("G, L or E is expected")
        side = self._number("the right-hand side")
        return Constraint(self._vector(), sign, side)

    def _vector(self) -> dict[int, Fraction]:
        if self._next("the number of coefficients") == "OBJ":
            return self.costs
        self.position -= 1
        terms = {}
        for _ in range(self._count("coefficients")):
            variable, value = self._variable(), self._number("a coefficient")
            if variable in terms:
                raise ValueError("a variable stands twice")
            terms[variable] = value
        return {variable: value for variable, value in terms.items() if value}

    def _variable(self) -> int:
        variable = self._whole("the index of a variable")
        if variable >= self.variables:
            raise ValueError(f"a variable below {self.variables} is expected")
        return variable

    def _count(self, entries: str) -> int:
        return self._whole(f"the number of {entries}")

    def _whole(self, expected: str) -> int:
        text = self._next(expected)
        try:
            return whole(text)
        except ValueError as error:
            raise ValueError(f"{expected} is expected: {error}") from error

    def _number(self, expected: str) -> Fraction:
        text = self._next(expected)
        try:
            return number(text)
        except ValueError as error:
            raise ValueError(f"{expected} is expected: {error}") from error

    def _begin(self, section: str) -> None:
        """Begin a section; that it is missing is a fault of the one before."""
        self._expect(section)
        self.section = section

    def _expect(self, word: str) -> None:
        if self._next(word) != word:
            raise ValueError(f"{word} is expected")

    def _next(self, expected: str) -> str:
        self.expected = expected
        if self.position == len(self.tokens) and not self._has_next():
            raise IndexError(expected)
        self.position += 1
        return self.tokens[self.position - 1]

    def _has_next(self) -> bool:
        """Tell whether there is another token, and read the lines up to it."""
        while self.position == len(self.tokens):
            number, line = next(self.lines, (0, ""))
            if not number:
                return False
            if line.startswith("%"):
                key, colon, value = line[1:].partition(":")
                self.remarks |= {key.strip(): value.strip()} if colon else {}
            elif tokens := _TOKEN.findall(line):
                self.tokens, self.position, self.line = tokens, 0, number
        return True
