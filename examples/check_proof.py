"""Check a proof of a bound without dlopt.

The proof is a VIPR file: an integer program, and a derivation of a bound on its objective. Each
step combines constraints that are known by then; this script follows every step in fractions. The
only import of dlopt is to write a proof where none is given.
"""

import math
import sys
from fractions import Fraction
from pathlib import Path

SIGN = {"G": 1, "L": -1, "E": 0}


class Row:
    """A constraint: coefficients by variable, a sense (L, G or E), a right-hand side."""

    def __init__(self, sense, bound, terms, assumptions=frozenset()):
        self.sense, self.bound, self.assumptions = sense, bound, assumptions
        self.terms = {variable: factor for variable, factor in terms.items() if factor}

    def implies(self, other):
        """Whether every point that satisfies this one satisfies the other one, too."""
        lower, upper = self.sense in "GE", self.sense in "LE"
        if not self.terms and ((lower and self.bound > 0) or (upper and self.bound < 0)):
            return True  # nothing satisfies it
        at_least = (lower and self.bound >= other.bound) or other.sense == "L"
        at_most = (upper and self.bound <= other.bound) or other.sense == "G"
        return self.terms == other.terms and at_least and at_most


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
    rounded(one, integral), rounded(other, integral)
    if other.bound > math.floor(one.bound) + 1:
        raise ValueError("leave out a case")
    return (rows[first].assumptions - {low}) | (rows[second].assumptions - {high})


class Proof:
    """Reads a file word by word."""

    def __init__(self, text):
        lines = (line for line in text.splitlines() if not line.startswith("%"))
        self.words = iter(" ".join(lines).split())
        self.names, self.rows, self.integral = [], [], set()
        self.objective, self.claim = {}, None

    def expect(self, *words):
        word = next(self.words)
        if word not in words:
            raise ValueError(f"{' or '.join(words)} is expected, not {word}")
        return word

    def numbers(self):
        """Read a vector: how many entries, then index and value of each, or OBJ."""
        word = next(self.words)
        if word == "OBJ":
            return self.objective
        terms = {int(next(self.words)): Fraction(next(self.words)) for _ in range(int(word))}
        if len(terms) != int(word) or not self.exist(terms):
            raise ValueError("a variable is in a row twice, or does not exist")
        return terms

    def exist(self, variables):
        return all(0 <= variable < len(self.names) for variable in variables)

    def check(self):
        """Follow the whole file; return the bound that it proves, None if there is no point."""
        for word in self.words:
            if word == "VER":
                next(self.words)
            elif word == "VAR":
                self.names = [next(self.words) for _ in range(int(next(self.words)))]
            elif word == "INT":
                integral = [int(next(self.words)) for _ in range(int(next(self.words)))]
                self.integral = set(integral)
                if len(integral) > len(self.integral) or not self.exist(integral):
                    raise ValueError("an integral variable is listed twice, or does not exist")
            elif word == "OBJ":
                self.expect("min")
                self.objective = self.numbers()
            elif word == "CON":
                for _ in range((int(next(self.words)), int(next(self.words)))[0]):
                    self.rows.append(self.row()[1])
            elif word == "RTP":
                if self.expect("range", "infeas") == "range":
                    self.claim, _ = Fraction(next(self.words)), next(self.words)
            elif word == "SOL":
                self.expect("0")  # solutions prove no bound
            elif word == "DER":
                for _ in range(int(next(self.words))):
                    self.step()
            else:
                raise ValueError(f"{word} is no section of a file")
        last = self.rows[-1]
        proven = Row("G", Fraction(1), {})  # 0 >= 1: the program is infeasible
        if self.claim is not None:
            proven = Row("G", self.claim, self.objective)
        if last.assumptions or not last.implies(proven):
            raise ValueError("the last step does not prove the claim")
        return self.claim

    def row(self):
        name, sense, bound = [next(self.words) for _ in range(3)]
        return name, Row(sense, Fraction(bound), self.numbers())

    def step(self):
        """Read a step, derive it again, and keep it if it follows."""
        name, row = self.row()
        self.expect("{")
        rule, *reason = iter(lambda: next(self.words), "}")
        if int(next(self.words)) < -1:
            raise ValueError("the last use of a step is -1 (not stated) or a number of a step")
        try:
            self.rows.append(self.derived(rule, reason, row))
        except ValueError as error:
            raise ValueError(f"step {name}: {error}") from None

    def known(self, word):
        """Read the number of a constraint that is known by then."""
        if not 0 <= int(word) < len(self.rows):
            raise ValueError(f"there is no constraint {word} before it")
        return int(word)

    def derived(self, rule, reason, row):
        if rule == "asm" and not reason:
            row.assumptions = frozenset({len(self.rows)})
            return row
        if rule == "uns":
            first, low, second, high = map(self.known, reason)
            if not (self.rows[first].implies(row) and self.rows[second].implies(row)):
                raise ValueError("does not hold in both cases")
            row.assumptions = both_cases(self.rows, self.integral, first, low, second, high)
            return row
        if rule not in ("lin", "rnd"):
            raise ValueError(f"{rule} is no rule")
        if len(reason) != 1 + 2 * int(reason[0]):
            raise ValueError("another number of multipliers than stated")
        pairs = zip(map(self.known, reason[1::2]), map(Fraction, reason[2::2]), strict=True)
        found = combined(self.rows, pairs, row.sense)
        if rule == "rnd":
            found = rounded(found, self.integral)
        if not found.implies(row):
            raise ValueError("does not follow")
        row.assumptions = found.assumptions
        return row


if len(sys.argv) > 1:
    try:
        text = Path(sys.argv[1]).read_text()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{sys.argv[1]} cannot be read: {error}")
else:
    import dlopt

    instance = dlopt.load("admission/two-of-three")
    dlopt.write_certificate(dlopt.solve(instance), "two-of-three.vipr")
    text = Path("two-of-three.vipr").read_text()
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
print(f"steps that were checked: {sum(1 for line in text.splitlines() if ' { ' in line)}")
print("not checked here, that the program is the one of an instance; by the remarks of the file:")
for line in text.splitlines():
    if line.startswith(("% instance:", "% claim:", "% objective value:")):
        print(line.removeprefix("%"))
