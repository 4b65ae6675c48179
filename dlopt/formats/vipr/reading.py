"""VIPR files, read token by token."""

from __future__ import annotations

from fractions import Fraction

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.formats.vipr.certificate import Certificate, Constraint, number

_SIGNS = {"G": 1, "L": -1, "E": 0}


def parse(text: str, source: str | None = None) -> Certificate:
    """Read a VIPR file that bounds a minimisation from below; its solutions are skipped.

    Raises
    ------
    InvalidInstanceError
        If it is none, with the place.
    """
    remarks: dict[str, str] = {}
    tokens: list[str] = []
    for line in text.splitlines():
        if not line.startswith("%"):
            tokens += line.split()
        elif ":" in line:
            key, _, value = line[1:].partition(":")
            remarks[key.strip()] = value.strip()
    reader = _Reader(tokens)
    try:
        return reader.certificate(remarks)
    except (ValueError, KeyError, IndexError, ZeroDivisionError) as error:
        at = min(reader.position, len(tokens)) - 1
        value = tokens[at] if at >= 0 else "nothing"
        why = "it ends here" if isinstance(error, IndexError) else error
        fault = Fault(f"token {at + 1}", value, f"must be a VIPR 1.0 file ({why})")
        raise InvalidInstanceError([fault], source) from error


class _Reader:
    """Reads the sections of a file, one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.position = tokens, 0
        self.variables, self.costs = 0, dict[int, Fraction]()

    def certificate(self, remarks: dict[str, str]) -> Certificate:
        """Read all of it."""
        self._expect("VER")
        self._next()
        self._expect("VAR")
        self.variables = self._count()
        names = tuple(self._next() for _ in range(self.variables))
        self._expect("INT")
        integers = frozenset(self._variable() for _ in range(self._count()))
        self._expect("OBJ")
        self._expect("min")
        self.costs = self._vector()
        self._expect("CON")
        stated, _ = self._count(), self._count()
        constraints = tuple((self._next(), self._constraint()) for _ in range(stated))
        claim = self._claim()
        self._expect("SOL")
        while self.tokens[self.position] != "DER":
            self._next()
        self._expect("DER")
        steps = tuple(self._step() for _ in range(self._count()))
        if self.position < len(self.tokens):
            self._next()
            raise ValueError("all is derived already")
        return Certificate(names, integers, self.costs, constraints, claim, steps, remarks)

    def _claim(self) -> Fraction | None:
        self._expect("RTP")
        if self._next() == "infeas":
            return None
        low, _ = number(self._next()), self._next()
        return low

    def _step(self) -> tuple[str, Constraint, tuple[str, ...]]:
        name, constraint = self._next(), self._constraint()
        self._expect("{")
        reason = tuple(iter(self._next, "}"))
        self._next()
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
        variable = int(self._next())
        if not 0 <= variable < self.variables:
            raise ValueError("there is no such variable")
        return variable

    def _count(self) -> int:
        return int(self._next())

    def _expect(self, word: str) -> None:
        if self._next() != word:
            raise ValueError(f"{word} is expected")

    def _next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1]
