"""Two requests on two machines, and the columns of programs about them."""

from fractions import Fraction

from dlopt.formats.vipr.certificate import Certificate, Constraint
from dlopt.problems.coreservation import (
    Instance,
    Machine,
    Part,
    Request,
    linear,
)
from dlopt.problems.coreservation.certified_program import ShareProgram

WANTED = Request("r", 0, 0, 4, 2, (Part(8, 2, linear()), Part(3)))
OTHER = Request("s", 1, 2, 6, 1, (Part(4, machine=0),))
TWO = Instance((Machine("m", 9), Machine("n", ((0, 8), (3, 6)))), (WANTED, OTHER))
ONE = Fraction(1)


def flaw_of(name, names, costs=None, rows=(), integers=(), claim=ONE, groups="01", **remarks):
    """Return the flaw of a program by its names."""
    columns = {label: column for column, label in enumerate(names)}
    constraints = tuple(
        (
            label,
            Constraint(
                {columns[n]: Fraction(a) for n, a in terms.items() if a}, sign, Fraction(side)
            ),
        )
        for label, terms, sign, side in rows
    )
    certificate = Certificate(
        tuple(names),
        frozenset(columns[label] for label in integers),
        {columns[label]: Fraction(cost) for label, cost in (costs or {}).items()},
        constraints,
        claim,
        (),
        {key: str(value) for key, value in remarks.items()},
    )
    return ShareProgram(TWO, name, certificate, ONE, list(groups)).flaw()


ACCEPTANCE = ("x_0", "x_1")
LEAST = ("y_0_0_0_2_2", "y_0_0_1_2_2", "y_0_1_0_3_3", "y_0_1_1_3_3", "y_1_0_0_4_4")
NAMES = (*ACCEPTANCE, *LEAST)
COUNT = {"x_0": -1, "x_1": -1}
RAISED = (*ACCEPTANCE, "y_0_0_0_2_8", "r_0_0_0_2_8", "y_0_0_1_2_6", "r_0_0_1_2_6", *LEAST[2:])
THIRD = Fraction(1, 3)
LATE = ((0, 0), (Fraction(3, 4), 0), (Fraction(3, 4), 1), (1, 1))
BENEFITS = {
    "y_0_0_0_2_8": -THIRD / 4,
    "r_0_0_0_2_8": -THIRD / 8,
    "y_0_0_1_2_6": -THIRD / 4,
    "r_0_0_1_2_6": -THIRD / 8,
    "y_0_1_0_3_3": -THIRD,
    "y_0_1_1_3_3": -THIRD,
    "y_1_0_0_4_4": -THIRD,
}
