"""VIPR files, read token by token."""

from __future__ import annotations

import re
from bisect import bisect_right
from fractions import Fraction

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.formats.vipr.certificate import Certificate, Constraint, number, whole

_SIGNS = {"G": 1, "L": -1, "E": 0}
_VERSIONS = ("1.0", "1.1")
_TOKEN = re.compile(r"[^ \t\r]+")


def parse(text: str, source: str | None = None) -> Certificate:
    """Read a VIPR file that bounds a minimisation from below; its solutions say nothing of that.

    Raises
    ------
    InvalidInstanceError
        If it is none, with the line.
    """
    remarks: dict[str, str] = {}
    tokens: list[str] = []
    ends: list[int] = []
    for line in text.split("\n"):
        if not line.startswith("%"):
            tokens += _TOKEN.findall(line)
        elif ":" in line:
            key, _, value = line[1:].partition(":")
            remarks[key.strip()] = value.strip()
        ends.append(len(tokens))
    reader = _Reader(tokens)
    try:
        return reader.certificate(remarks)
    except (ValueError, KeyError, IndexError) as error:
        at = min(reader.position, len(tokens)) - 1
        value = tokens[at][:30] if at >= 0 else "nothing"
        why = "it ends here" if isinstance(error, IndexError) else error
        fault = Fault(
            f"line {bisect_right(ends, at) + 1}", value, f"must be a VIPR 1.0 file ({why})"
        )
        raise InvalidInstanceError([fault], source) from error


class _Reader:
    """Reads the sections of a file, one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.position = tokens, 0
        self.variables, self.costs = 0, dict[int, Fraction]()

    def certificate(self, remarks: dict[str, str]) -> Certificate:
        """Read all of it."""
        self._expect("VER")
        if self._next() not in _VERSIONS:
            raise ValueError(f"its version is not {' or '.join(_VERSIONS)}")
        self._expect("VAR")
        self.variables = self._count()
        names = tuple(self._next() for _ in range(self.variables))
        if len(set(names)) < len(names):
            raise ValueError("two variables have one name")
        self._expect("INT")
        integral = [self._variable() for _ in range(self._count())]
        if len(set(integral)) < len(integral):
            raise ValueError("a variable stands twice")
        integers = frozenset(integral)
        self._expect("OBJ")
        self._expect("min")
        self.costs = self._vector()
        self._expect("CON")
        stated = self._count()
        bounds = self._count()
        constraints = tuple((self._next(), self._constraint()) for _ in range(stated))
        if bounds > sum(len(constraint.terms) <= 1 for _, constraint in constraints):
            raise ValueError("there are more bounds than constraints of one variable")
        claim = self._claim()
        self._expect("SOL")
        for _ in range(self._count()):
            self._next()
            self._vector()
        self._expect("DER")
        steps = tuple(self._step() for _ in range(self._count()))
        if self.position < len(self.tokens):
            self._next()
            raise ValueError("all is derived already")
        return Certificate(names, integers, self.costs, constraints, claim, steps, remarks)

    def _claim(self) -> Fraction | None:
        self._expect("RTP")
        kind = self._next()
        if kind == "infeas":
            return None
        if kind != "range":
            raise ValueError("infeas or range is expected")
        low, high = number(self._next()), self._next()
        if high != "inf" and number(high) < low:
            raise ValueError("the range is empty")
        return low

    def _step(self) -> tuple[str, Constraint, tuple[str, ...]]:
        name, constraint = self._next(), self._constraint()
        self._expect("{")
        reason = tuple(iter(self._next, "}"))
        last_use = self._next()
        if last_use != "-1":
            whole(last_use)
        return name, constraint, reason

    def _constraint(self) -> Constraint:
        sign, side = _SIGNS[self._next()], number(self._next())
        return Constraint(self._vector(), sign, side)

    def _vector(self) -> dict[int, Fraction]:
        if self.tokens[self.position] == "OBJ":
            self._next()
            return self.costs
        terms = {}
        for _ in range(self._count()):
            variable, value = self._variable(), number(self._next())
            if variable in terms:
                raise ValueError("a variable stands twice")
            terms[variable] = value
        return {variable: value for variable, value in terms.items() if value}

    def _variable(self) -> int:
        variable = whole(self._next())
        if variable >= self.variables:
            raise ValueError("there is no such variable")
        return variable

    def _count(self) -> int:
        return whole(self._next())

    def _expect(self, word: str) -> None:
        if self._next() != word:
            raise ValueError(f"{word} is expected")

    def _next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1]
