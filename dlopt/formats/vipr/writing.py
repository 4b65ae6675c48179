"""Certificates of dlopt as VIPR files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dlopt.certificates import (
    BoundCertificate,
    Certificate,
    InfeasibilityProof,
    Leaf,
    StatedProgram,
    Terms,
)


def to_text(certificate: Certificate) -> str:
    """Return a certificate as a VIPR file.

    Parameters
    ----------
    certificate : BoundCertificate or InfeasibilityProof

    Raises
    ------
    ValueError
        If it is no proof: its leaves do not cover everything, or prove less than its bound.

    Examples
    --------
    >>> from dlopt.formats.vipr.reading import parse
    >>> half, unit = Fraction(1, 2), (Fraction(0), Fraction(1))
    >>> certificate = BoundCertificate(
    ...     names=("z",), costs=(Fraction(1),), rows=(((0, Fraction(1)),),),
    ...     row_bounds=((half, None),), column_bounds=(unit,), binaries=(0,), cuts=0,
    ...     step=Fraction(1), bound=Fraction(1), leaves=(Leaf((), ((0, Fraction(1)),), False),),
    ... )
    >>> parsed = parse(to_text(certificate))
    >>> parsed.flaw() is None, parsed.claim
    (True, Fraction(1, 1))
    """
    return "".join(f"{line}\n" for line in lines_of(certificate))


def lines_of(certificate: Certificate) -> Iterator[str]:
    """Yield the lines of that file, which need not be in memory together, without their ends."""
    if isinstance(certificate, InfeasibilityProof):
        return _infeasibility_lines(certificate)
    return _Writer(certificate).lines()


def statement_text(program: StatedProgram) -> str:
    """Return what a certificate is the proof of: a VIPR file up to its claim.

    Examples
    --------
    >>> from dlopt.formats.vipr.certificate import Certificate, Constraint
    >>> row = Constraint({0: Fraction(1)}, 1, Fraction(1, 2))
    >>> one = Certificate(("z",), frozenset({0}), {0: Fraction(2)}, (("r", row),), Fraction(2), ())
    >>> print(statement_text(one), end="")
    VER 1.0
    VAR 1
    z
    INT 1
    0
    OBJ min
    1 0 2
    CON 1 1
    r G 1/2 1 0 1
    RTP range 2 inf
    """
    letter = {1: "G", -1: "L", 0: "E"}
    stated = [
        f"{name} {letter[row.sign]} {row.side} {_vector(row.terms.items())}"
        for name, row in program.constraints
    ]
    # viprchk counts single columns as bounds.
    bounds = sum(len(row.terms) == 1 for _, row in program.constraints)
    remarks = [f"{name}: {value}" for name, value in program.remarks.items()]
    integers, costs = sorted(program.integers), program.costs.items()
    lines = _statement_lines(remarks, program.names, integers, costs, stated, bounds, program.claim)
    return "\n".join(lines) + "\n"


def _statement_lines(
    remarks: Iterable[str],
    names: Sequence[str],
    integers: Sequence[int],
    costs: Iterable[tuple[int, Fraction]],
    stated: Sequence[str],
    bounds: int,
    claim: Fraction | None,
) -> Iterator[str]:
    yield from (f"% {remark}" for remark in remarks)
    yield from ("VER 1.0", f"VAR {len(names)}", " ".join(names))
    yield from (f"INT {len(integers)}", " ".join(map(str, integers)), "OBJ min", _vector(costs))
    yield f"CON {len(stated)} {bounds}"
    yield from stated
    yield "RTP infeas" if claim is None else f"RTP range {claim} inf"


def _infeasibility_lines(proof: InfeasibilityProof) -> Iterator[str]:
    """Yield the lines of a proof by cutting planes; viprchk counts single columns as bounds."""
    letter = {1: "G", -1: "L"}
    bounds = sum(len(terms) == 1 for _, terms, _, _ in proof.constraints)
    stated = [
        f"{name} {letter[sign]} {side} {_vector(terms)}"
        for name, terms, sign, side in proof.constraints
    ]
    columns = range(len(proof.names))
    yield from _statement_lines(proof.remarks, proof.names, columns, (), stated, bounds, None)
    yield from ("SOL 0", f"DER {len(proof.derivations)}")
    first, last_uses = len(proof.constraints), dict[int, int]()
    for number, step in enumerate(proof.derivations, first):
        last_uses[number] = number  # if no other step uses it
        last_uses |= {used: number for used, a in step.used if a or step.reason == "uns"}
    last_uses[first + len(proof.derivations) - 1] = -1  # the claim
    for number, step in enumerate(proof.derivations, first):
        numbers = " ".join(str(used) for used, _ in step.used)
        reason = {"asm": "asm", "uns": f"uns {numbers}"}.get(step.reason)
        reason = reason or f"{step.reason} {_vector(step.used)}"
        claim = f"{letter[step.sign]} {step.side} {_vector(step.terms)}"
        yield f"d{number} {claim} {{ {reason} }} {last_uses[number]}"


class _Writer:
    """Writes one certificate: the stated constraints come first, then a step a line."""

    def __init__(self, certificate: BoundCertificate) -> None:
        self.one = certificate
        self.stated: list[str] = []
        self.bounds = 0
        self.steps: list[str] = []
        self.last_uses: dict[int, int] = {}
        self.rows: list[tuple[int | None, int | None]] = []
        self.columns: list[tuple[int | None, int | None]] = []

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        one = self.one
        first = len(one.rows) - one.cuts
        for number, (terms, sides) in enumerate(zip(one.rows, one.row_bounds, strict=True)):
            name = f"row{number}" if number < first else f"cut{number - first}"
            name = one.row_names[number] if one.row_names else name
            self.rows.append(self._state(name, terms, sides))
        for j, sides in enumerate(one.column_bounds):
            self.columns.append(self._state(one.names[j], ((j, Fraction(1)),), sides))
        last = self._cover(one.leaves, 0, {})
        if one.bound is not None:
            self._add(f"G {one.bound} OBJ", f"lin 1 {last} {self._step}", last)
        costs = [(j, cost) for j, cost in enumerate(one.costs) if cost]
        yield from _statement_lines(
            one.remarks, one.names, one.binaries, costs, self.stated, self.bounds, one.bound
        )
        yield "SOL 0"
        yield f"DER {len(self.steps)}"
        for number, step in enumerate(self.steps, len(self.stated)):
            yield f"{step} {self.last_uses.get(number, -1)}"

    def _state(
        self, name: str, terms: Terms, sides: tuple[Fraction | None, Fraction | None]
    ) -> tuple[int | None, int | None]:
        """State the sides of a row or column as constraints, and return their numbers."""
        numbers: list[int | None] = []
        for letter, side in zip("GL", sides, strict=True):
            numbers.append(None if side is None else len(self.stated))
            if side is not None:
                self.bounds += len(terms) == 1
                self.stated.append(f"{name}_{letter} {letter} {side} {_vector(terms)}")
        return numbers[0], numbers[1]

    def _cover(self, leaves: Sequence[Leaf], depth: int, assumed: dict[int, int]) -> int:
        """Derive the claim for what some leaves cover, and return its number."""
        if not leaves:
            raise ValueError("the leaves do not cover everything")
        if len(leaves[0].fixed) == depth:
            return self._prove(leaves[0], assumed)
        column = leaves[0].fixed[depth][0]
        numbers: list[int] = []
        for value, letter in ((0, "L"), (1, "G")):
            case = self._add(f"{letter} {value} 1 {column} 1", "asm")
            inside = [leaf for leaf in leaves if leaf.fixed[depth] == (column, value)]
            numbers += self._cover(inside, depth + 1, assumed | {column: case}), case
        return self._add(self._goal, f"uns {' '.join(map(str, numbers))}", *numbers)

    def _prove(self, leaf: Leaf, assumed: dict[int, int]) -> int:
        """Add up rows, bounds and cases: the costs are left, or nothing but an absurdity."""
        one, values = self.one, dict(leaf.fixed)
        used: list[tuple[int | None, Fraction]] = []
        side = Fraction(0)
        rest = [Fraction(0)] * len(one.costs) if leaf.refuted else list(one.costs)
        for r, multiplier in leaf.multipliers:
            side += self._lean(used, self.rows[r], one.row_bounds[r], multiplier)
            for j, a in one.rows[r]:
                rest[j] -= multiplier * a
        for j, left in enumerate(rest):
            if left and j in values and (left > 0) == (values[j] == 1):
                used.append((assumed[j], left))
                side += left * values[j]
            elif left:
                side += self._lean(used, self.columns[j], one.column_bounds[j], left)
        if side <= 0 if leaf.refuted else not self._reaches_bound(side):
            raise ValueError("the multipliers of a leaf prove too little")
        scale, reason = (_power_of_two(side), "lin") if leaf.refuted else (self._step, "rnd")
        reason = "lin" if one.step is None else reason
        goal = "G 1 0" if leaf.refuted else self._goal
        return self._add(goal, f"{reason} {_vector((n, m / scale) for n, m in used)}")

    def _reaches_bound(self, side: Fraction) -> bool:
        """Tell whether what the multipliers of a leaf prove is the bound, maybe by rounding up."""
        one = self.one
        if one.bound is None:
            return False
        return side >= one.bound if one.step is None else side > one.bound - one.step

    @property
    def _step(self) -> Fraction:
        """What the claim is divided by."""
        return Fraction(1) if self.one.step is None else self.one.step

    def _lean(
        self,
        used: list[tuple[int | None, Fraction]],
        numbers: tuple[int | None, int | None],
        sides: tuple[Fraction | None, Fraction | None],
        multiplier: Fraction,
    ) -> Fraction:
        """Use the side of a row or column that a multiplier leans on; return what it adds."""
        below = multiplier < 0
        side = sides[below]
        if side is None:
            raise ValueError("a multiplier leans on a bound that is not there")
        used.append((numbers[below], multiplier))
        return multiplier * side

    @property
    def _goal(self) -> str:
        """The claim, over the step, so that its coefficients are integers."""
        one = self.one
        if one.bound is None:
            return "G 1 0"
        terms = [(j, cost / self._step) for j, cost in enumerate(one.costs) if cost]
        return f"G {one.bound / self._step} {_vector(terms)}"

    def _add(self, constraint: str, reason: str, *used: int) -> int:
        """Add a step, and the steps that are used there for the last time; return its number."""
        number = len(self.stated) + len(self.steps)
        self.last_uses |= dict.fromkeys(used, number)
        self.steps.append(f"d{number} {constraint} {{ {reason} }}")
        return number


def _vector(terms: Iterable[tuple[int | None, Fraction]]) -> str:
    pairs = [(j, a) for j, a in terms if a]
    return " ".join([str(len(pairs)), *(f"{j} {a}" for j, a in pairs)])


def _power_of_two(side: Fraction) -> Fraction:
    """Return the largest power of two that is no more: dividing by it adds few digits.

    Examples
    --------
    >>> _power_of_two(Fraction(5)), _power_of_two(Fraction(1, 3))
    (Fraction(4, 1), Fraction(1, 4))
    """
    power = Fraction(2) ** (side.numerator.bit_length() - side.denominator.bit_length())
    return power if power <= side else power / 2
