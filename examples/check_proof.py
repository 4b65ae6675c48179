"""Check a proof of a bound without dlopt.

The proof is a VIPR file: an integer program, and a derivation of a bound on its objective. Each
step combines constraints that are known by then; this script follows every step in fractions. The
only import of dlopt is to write a proof where none is given.
"""

import math
import re
import sys
from fractions import Fraction
from pathlib import Path

NUMBER = re.compile(r"[+-]?[0-9]+(/[0-9]+|\.[0-9]*)?")  # no exponents, no digits but these
WORD = re.compile(r"[^ \t\r]+")
SIGN = {"G": 1, "L": -1, "E": 0}


class Row:
    """A constraint: coefficients by variable, a sense (L, G or E), a right-hand side."""

    def __init__(self, sense, bound, terms, assumptions=frozenset()):
        self.sense, self.bound, self.assumptions = sense, bound, assumptions
        self.last_use = math.inf  # no step with a larger number may use it
        self.terms = {variable: factor for variable, factor in terms.items() if factor}

    def implies(self, other):
        """Whether every point that satisfies this one satisfies the other one, too."""
        lower, upper = self.sense in "GE", self.sense in "LE"
        if not self.terms and ((lower and self.bound > 0) or (upper and self.bound < 0)):
            return True  # nothing satisfies it
        at_least = (lower and self.bound >= other.bound) or other.sense == "L"
        at_most = (upper and self.bound <= other.bound) or other.sense == "G"
        return self.terms == other.terms and at_least and at_most


def number(word):
    if not NUMBER.fullmatch(word):
        raise ValueError(f"{word[:30]} is no number")
    return Fraction(word)


def whole(word):
    """Read an index or a count: at least 0."""
    if not re.fullmatch("[0-9]+", word):
        raise ValueError(f"{word[:30]} is no whole number")
    return int(word)


def combined(rows, factors, sense):
    """Add rows up; the signs of the factors must keep the sense."""
    terms, bound, assumptions = {}, Fraction(0), frozenset()
    for index, factor in factors:
        row = rows[index]
        direction = SIGN[row.sense] * factor
        if direction and direction * SIGN[sense] <= 0:
            raise ValueError("a factor has the wrong sign")
        for variable, value in row.terms.items():
            terms[variable] = terms.get(variable, 0) + factor * value
        bound += factor * row.bound
        assumptions |= row.assumptions
    return Row(sense, bound, terms, assumptions)


def rounded(row, integral):
    """Round the right-hand side: all variables and coefficients must be integral."""
    is_integral = all(v in integral and f.denominator == 1 for v, f in row.terms.items())
    if row.sense == "E" or not is_integral:
        raise ValueError("cannot be rounded")
    bound = math.ceil(row.bound) if row.sense == "G" else math.floor(row.bound)
    return Row(row.sense, Fraction(bound), row.terms, row.assumptions)


def both_cases(rows, integral, first, low, second, high):
    """Join two cases, x <= k and x >= k + 1, which one integral expression cannot both avoid."""
    one, other = sorted((rows[low], rows[high]), key=lambda row: row.sense, reverse=True)
    if (one.sense, other.sense) != ("L", "G") or one.terms != other.terms:
        raise ValueError("are not two cases of one expression")
    if one.bound != rounded(one, integral).bound or other.bound != one.bound + 1:
        raise ValueError("are not at most k and at least k + 1")
    return (rows[first].assumptions - {low}) | (rows[second].assumptions - {high})


class Proof:
    """Reads a file word by word: its sections have one order, and nothing follows the last one."""

    def __init__(self, text):
        lines = (line for line in text.split("\n") if not line.startswith("%"))
        self.words = iter([word for line in lines for word in WORD.findall(line)])
        self.names, self.rows, self.integral = [], [], set()
        self.objective, self.claim, self.steps = {}, None, 0

    def expect(self, *words):
        word = next(self.words)
        if word not in words:
            raise ValueError(f"{' or '.join(words)} is expected, not {word[:30]}")
        return word

    def count(self):
        return whole(next(self.words))

    def variable(self):
        index = self.count()
        if index >= len(self.names):
            raise ValueError(f"there is no variable {index}")
        return index

    def vector(self):
        """Read how many entries there are, then index and value of each; or OBJ."""
        word = next(self.words)
        if word == "OBJ":
            return self.objective
        entries = [(self.variable(), number(next(self.words))) for _ in range(whole(word))]
        if len(dict(entries)) < len(entries):
            raise ValueError("a variable is in a row twice")
        return dict(entries)

    def check(self):
        """Follow the whole file; return the bound that it proves, None if there is no point."""
        self.expect("VER")
        self.expect("1.0", "1.1")
        self.read_columns()
        self.expect("CON")
        stated, bounds = self.count(), self.count()
        self.rows += [self.row()[1] for _ in range(stated)]
        if bounds > sum(len(row.terms) <= 1 for row in self.rows):
            raise ValueError("there are more bounds than rows of one variable")
        self.read_claim()
        self.expect("SOL")
        self.expect("0")  # solutions prove no bound
        self.expect("DER")
        self.steps = self.count()
        for _ in range(self.steps):
            self.step()
        if next(self.words, None) is not None:
            raise ValueError("there is something after the last step")
        proven = Row("G", Fraction(1), {})  # 0 >= 1: the program is infeasible
        if self.claim is not None:
            proven = Row("G", self.claim, self.objective)
        if not self.steps or self.rows[-1].assumptions or not self.rows[-1].implies(proven):
            raise ValueError("the last step does not prove the claim")
        return self.claim

    def read_columns(self):
        """Read the names of the variables, which of them are integral, and the objective."""
        self.expect("VAR")
        self.names = [next(self.words) for _ in range(self.count())]
        self.expect("INT")
        integral = [self.variable() for _ in range(self.count())]
        self.integral = set(integral)
        if len(set(self.names)) < len(self.names) or len(self.integral) < len(integral):
            raise ValueError("two variables have one name, or one is integral twice")
        self.expect("OBJ")
        self.expect("min")
        self.objective = self.vector()

    def read_claim(self):
        self.expect("RTP")
        if self.expect("range", "infeas") == "range":
            self.claim, most = number(next(self.words)), next(self.words)
            if most != "inf" and number(most) < self.claim:
                raise ValueError("the range of the claim is empty")

    def row(self):
        name, sense = next(self.words), self.expect("G", "L", "E")
        return name, Row(sense, number(next(self.words)), self.vector())

    def step(self):
        """Read a step, derive it again, and keep it if it follows."""
        name, row = self.row()
        self.expect("{")
        rule, *reason = [*iter(lambda: next(self.words), "}")] or ["nothing"]
        last_use = next(self.words)
        if last_use != "-1":  # not stated
            row.last_use = whole(last_use)
        try:
            self.rows.append(self.derived(rule, reason, row))
        except ValueError as error:
            raise ValueError(f"step {name}: {error}") from None

    def known(self, word):
        """Read the number of a constraint that is known by then."""
        if whole(word) >= len(self.rows):
            raise ValueError(f"there is no constraint {word} before it")
        if self.rows[int(word)].last_use < len(self.rows):
            raise ValueError(f"constraint {word} is used after its last use")
        return int(word)

    def derived(self, rule, reason, row):
        if rule == "asm" and not reason:
            row.assumptions = frozenset({len(self.rows)})
            return row
        if rule == "uns":
            if len(reason) != 4:
                raise ValueError("is not from four constraints")
            first, low, second, high = map(self.known, reason)
            if not (self.rows[first].implies(row) and self.rows[second].implies(row)):
                raise ValueError("does not hold in both cases")
            row.assumptions = both_cases(self.rows, self.integral, first, low, second, high)
            return row
        if rule not in ("lin", "rnd"):
            raise ValueError(f"{rule} is no rule")
        if not reason or len(reason) != 1 + 2 * whole(reason[0]):
            raise ValueError("another number of multipliers than stated")
        pairs = zip(map(self.known, reason[1::2]), map(number, reason[2::2]), strict=True)
        found = combined(self.rows, pairs, row.sense)
        if rule == "rnd":
            found = rounded(found, self.integral)
        if not found.implies(row):
            raise ValueError("does not follow")
        row.assumptions = found.assumptions
        return row


if len(sys.argv) > 1:
    try:
        text = Path(sys.argv[1]).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{sys.argv[1]} cannot be read: {error}")
else:
    import dlopt

    instance = dlopt.load("admission/two-of-three")
    dlopt.write_certificate(dlopt.solve(instance), "two-of-three.vipr")
    text = Path("two-of-three.vipr").read_text(encoding="utf-8")
proof = Proof(text)
try:
    bound = proof.check()
except ValueError as error:
    print(f"NOT proven: {error}")
    sys.exit(1)
except (StopIteration, LookupError, ZeroDivisionError):
    print("NOT proven: this is no complete VIPR file")
    sys.exit(1)
claim = "is infeasible" if bound is None else f"has no objective below {bound}"
print(f"proven: a program with {len(proof.names)} variables {claim}")
print(f"steps that were checked: {proof.steps}")
print("not checked here, that the program is the one of an instance; by the remarks of the file:")
for line in text.split("\n"):
    if line.startswith(("% instance:", "% claim:", "% objective value:")):
        print(line.removeprefix("%"))
