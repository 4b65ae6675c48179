"""Two checkers of certificates agree, of which one is written from the documentation alone.

`benchmarks.second_checker` compares them on thousands of altered certificates.
"""

import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from benchmarks.certified_instances import SUBJECTS, CertifiedInstance
from benchmarks.second_checker import Verdict, agreement, compared, one
from dlopt.formats import vipr
from dlopt.problems import admission, coreservation, iit, multistage
from tests.examples import share
from tests.reference.certificates import proven_bound
from tests.reference.vipr import RefusedError, follow, read

SHIPPED = {
    "admission/two-of-three": ("accepted", "reject-ratio"),
    "admission/setup-costs": ("accepted", "accepted-load"),
    "admission/weights-that-differ": ("accepted-weight",),
    "multistage/maintenance": (
        *("accepted", "accepted-tasks", "accepted-reservations"),
        *("accepted-load", "reject-ratio"),
    ),
    "multistage/multi-stage-literal-f9": ("accepted-reservations",),
    "coreservation/one-by-one": (
        *("benefit", "rejections", "rejected-priority", "benefit-then-rejections"),
        *("rejections-then-benefit", "rejected-priority-then-benefit", "rejections-then-machines"),
    ),
    "dag/deadlines": (
        *("makespan", "tardy-graphs", "total-response-time", "tardy-then-response-time"),
    ),
    "dag/costs-nothing": ("makespan",),
    "bag/releases": ("makespan", "flowtime"),
    "bag/first-come": ("flowtime",),
    "iit/four-nodes-setup": ("completion", "nodes"),
    "iit/late-node": ("completion",),
    "bag/gds-shuffle-harms": ("accepted", "critical-then-all", "by-priority"),
}
"""Of each problem, what all its objectives have certificates of."""

FOLDERS = {
    "gds-shuffle-harms": "bag/counterexamples/gds-shuffle-harms",
    "multi-stage-literal-f9": "multistage/counterexamples/multi-stage-literal-f9",
}


def first_step_of(text, rule, change):
    """Return a file whose first step of a rule is changed."""
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if f"{{ {rule} " in line)
    lines[at] = change(lines[at])
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "objective"),
    [(name, objective) for name, objectives in SHIPPED.items() for objective in objectives],
)
def test_both_accept_what_is_written_for_shipped_instances(name, objective):
    stem, instance = name.split("/")
    subject = CertifiedInstance(dlopt.load(FOLDERS.get(instance, name)), 1, objective)
    assert subject.stem == stem
    found, first, second = compared(subject, subject.text)
    assert (found, first) == ("accepted", second)


@pytest.mark.parametrize("stem", ["admission", "multistage"])
def test_a_proof_that_counts_tasks_is_none_of_their_weights(stem):
    """Three of weight 1 fit, so that no more than 3 is proven, or one of weight 5 and another."""
    instance, count = dlopt.load("admission/weights-that-differ"), "accepted"
    if stem == "multistage":
        instance = multistage.Instance(instance.cluster, instance.tasks)
    counted = CertifiedInstance(instance, 1, count)
    assert compared(counted, counted.text)[0] == "accepted"
    found, first, second = compared(CertifiedInstance(instance, 1, "accepted-weight"), counted.text)
    assert found == "refused", (first, second)


@pytest.mark.parametrize("objective", coreservation.OBJECTIVES)
def test_nothing_is_asked_of_requests_that_fit_nowhere(objective):
    parts = coreservation.Part(4, 2, coreservation.linear()), coreservation.Part(9)
    one = coreservation.Request("one", 0, 0, 2, 1, parts[:1])
    wide = coreservation.Request("wide", 0, 0, 2, 2, parts)
    instance = coreservation.Instance((coreservation.Machine("m", 5),), (one, wide))
    subject = CertifiedInstance(instance, 1, objective)
    found, first, second = compared(subject, subject.text)
    assert (found, first) == ("accepted", second)


@pytest.mark.property
@share(1 / 3)
@given(st.integers(0, 2**32), st.sampled_from(sorted(SUBJECTS)))
def test_both_say_the_same_of_altered_certificates(seed, stem):
    draw = random.Random(seed)
    subject = draw.choice(SUBJECTS[stem])
    change, text = one(draw, subject)
    found, first, second = compared(subject, text)
    assert found in ("accepted", "refused", "form"), (change, first, second)


def test_every_way_to_disagree_is_one():
    better, worse, refused = Verdict((Fraction(2),)), Verdict((Fraction(3),)), Verdict(None)
    form, nothing = Verdict(None, "program: its row has another form"), Verdict(())
    most, least = admission.OBJECTIVES["accepted"], iit.OBJECTIVES["completion"]
    assert agreement(worse, worse, worse.bound, most) == "accepted"
    assert agreement(better, better, worse.bound, least) == "accepted"
    assert agreement(nothing, nothing, (), least) == "accepted"
    assert agreement(better, better, worse.bound, most) == "both accept what is false"
    assert agreement(nothing, nothing, worse.bound, least) == "both accept what is false"
    assert agreement(refused, Verdict(None, "why"), worse.bound, most) == "refused"
    assert agreement(better, worse, worse.bound, most) == "two bounds"
    assert agreement(worse, refused, worse.bound, most) == "only dlopt accepts"
    assert agreement(form, worse, worse.bound, most) == "form"
    assert agreement(form, better, worse.bound, most) == "only the second accepts"
    assert agreement(refused, worse, worse.bound, most) == "only the second accepts"


SMALL = SUBJECTS["admission"][2]


@pytest.mark.parametrize(
    ("rule", "change", "reason"),
    [
        ("rnd", lambda line: line.replace("rnd 15 1 -", "rnd 15 1 "), "wrong sign"),
        ("rnd", lambda line: line.replace(" G -2 ", " G -1 "), "does not follow"),
        ("uns", lambda line: line.replace("uns 46 45 48 47", "uns 46 45 46 45"), "two cases"),
        ("uns", lambda line: line.replace("uns 46 45", "uns 44 45"), "in both cases"),
        ("lin", lambda line: line.replace(" 49 1", " 1 1"), "wrong sign"),
        ("lin", lambda line: line.replace("-1", "-2"), "no whole number"),
        ("uns", lambda line: line.replace("} 50", "} 49"), "row 49 is used after its last use"),
        ("asm", lambda line: line.replace("} 49", "} 48"), "row 45 is used after its last use"),
    ],
)
def test_the_second_checker_refuses_steps(rule, change, reason):
    text = first_step_of(SMALL.text, rule, change)
    assert text != SMALL.text.rstrip("\n")
    with pytest.raises(RefusedError, match=reason):
        follow(read(text))


CASES = """VER 1.0
VAR 2 x y
INT 1 0
OBJ min 1 0 1
CON 1 0
half G 1/2 1 0 1
RTP range 1 inf
SOL 0
DER 2
a G 1 1 0 1 { asm } -1
b G 1 OBJ { lin 1 1 1 } -1
"""


def test_a_claim_under_an_assumption_is_none():
    with pytest.raises(RefusedError, match="the last step is not the claim"):
        follow(read(CASES))
    follow(read(CASES.replace("{ lin 1 1 1 }", "{ rnd 1 0 1 }")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("VER 1.0", "VER 1.1"),
        ("range 1 inf", "range 1 1"),
        ("SOL 0", "SOL 1 best 1 0 1"),
        ("1/2", "0.5"),
        ("INT 1 0", "INT 01 00"),
    ],
)
def test_what_dlopt_reads_the_second_checker_reads(old, new):
    text = CASES.replace("{ lin 1 1 1 }", "{ rnd 1 0 1 }").replace(old, new, 1)
    follow(read(text))
    assert vipr.parse(text).flaw() is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("VER 1.0", "VER 0.9", "1.0 is expected"),
        ("VAR 2 x y", "VAR 2 x x", "one name"),
        ("INT 1 0", "INT 1 3", "no variable 3"),
        ("1/2 1 0 1", "1/2 2 0 1 0 1", "twice"),
        ("half G", "half N", "no sense"),
        ("half G 1/2", "half G 1/0", "not complete"),
        ("CON 1 0", "CON 1 2", "more bounds"),
        ("CON 1 0\n", "CON 2 2\nboth L 2 2 0 1 1 1\n", "more bounds than rows of one variable"),
        ("INT 1 0", "INT 2 0 0", "INT twice"),
        ("range 1 inf", "range 1 1/2", "the range of the claim is empty"),
        ("RTP range 1 inf", "RTP nothing", "nothing is no claim"),
        ("RTP range 1 inf", "RTP range 1e0 inf", "1e0 is no number"),
        ("RTP range 1 inf", "RTP range \u0661 inf", "is no number"),
        ("RTP range 1 inf", "RTP range 1_0 inf", "is no number"),
        ("{ asm }", "{ asm 0 }", "assumed for a reason"),
        ("{ asm } -1", "{ asm } -2", "-2 is no whole number"),
        ("DER 2", "DER 1", "after the last step"),
        ("DER 2", "DER 3", "not complete"),
        ("{ lin 1 1 1 }", "{ lin 1 7 1 }", "no row 7"),
        ("{ lin 1 1 1 }", "{ lin 2 1 1 }", "multipliers"),
        ("{ lin 1 1 1 }", "{ sol }", "no rule sol"),
        ("{ lin 1 1 1 }", "{ lin }", "cannot be read"),
        ("CON 1 0", "CON 1 -1", "no whole number"),
        ("INT 1 0", "INT 0", None),
    ],
)
def test_the_second_checker_refuses_files(old, new, reason):
    text = CASES.replace("{ lin 1 1 1 }", "{ rnd 1 0 1 }") if reason is None else CASES
    with pytest.raises(RefusedError, match=reason or "cannot be rounded"):
        follow(read(text.replace(old, new)))


def test_the_second_checker_imports_nothing_of_dlopt():
    code = """import sys, tests.reference.certificates
for name in sorted(sys.modules):
    root = name.partition(".")[0]
    if root in ("dlopt", "benchmarks") or root == "tests" and name.count(".") == 1:
        print(name)
"""
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        check=True,
        text=True,
    )
    assert found.stdout.split() == ["tests.reference"]


def test_there_are_no_certificates_of_other_problems():
    with pytest.raises(RefusedError, match="no certificates of knapsack"):
        proven_bound({"problem": "knapsack"}, "value", SMALL.text)
