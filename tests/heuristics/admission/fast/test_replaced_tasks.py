"""A waiting task that is replaced in place, against the reference, which plans all again."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.admission import Task, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.reference.admission_engine import admission


def times(book):
    """Return the chunks of a plan without their nodes."""
    return [replace(chunk, node=0) for chunk in book.plan().chunks]


@pytest.mark.parametrize(
    ("name", "equal"),
    [
        ("fast-edf-iit", True),
        ("fast-edf-iit-linear", True),
        ("hybrid", True),
        ("fast-mwf-iit", False),  # a new plan ranks tasks again, by what is left of them
    ],
)
def test_decisions_are_those_of_a_new_plan(name, equal):
    changed = cancelled = 0
    for seed in range(15):
        draw = random.Random(seed)
        cluster = Cluster(draw.randint(1, 4), 1, draw.randint(1, 3))
        books = [
            admission(reference)(cluster, name, ready_times=[9] * cluster.nodes)
            for reference in ((False, True) if equal else (False, False))
        ]
        for k in range(40):
            verb, number = draw.choice("sssxcca"), draw.randrange(k + 1)
            load, deadline = Fraction(draw.randint(1, 30), 4), draw.randint(5, 70)
            outcomes = []
            for book in books:
                arrivals = {task["id"]: task["arrival"] for task in book.snapshot()["tasks"]}
                arrival = arrivals.get(f"t{number}", 0)
                try:
                    if verb == "s":
                        outcomes.append(book.submit(Task(f"t{k}", book.now, load, deadline)))
                    elif verb == "x":
                        outcomes.append(book.change(Task(f"t{number}", arrival, load, deadline)))
                    elif verb == "c":
                        outcomes.append(book.cancel(f"t{number}"))
                    else:
                        outcomes.append(book.advance(book.now + Fraction(deadline, 9)))
                except (InvalidInstanceError, NotApplicableError) as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1]
            changed += verb == "x" and getattr(outcomes[0], "accepted", False)
            cancelled += verb == "c" and not isinstance(outcomes[0], str)
            assert books[0].decisions == books[1].decisions
            # Which of the free nodes a chunk gets depends on when they were free.
            assert times(books[0]) == times(books[1])
            coming = books[0].state()
            assert coming is None or not violations(coming.instance, coming.plan)
    assert changed > 3
    assert cancelled > 25
