"""No certificate that was altered proves more than is true; `benchmarks` alters thousands."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import altered_certificates as altered
from benchmarks.second_checker import compared
from dlopt.formats import vipr


@pytest.mark.parametrize(
    "subject", [one for subjects in altered.SUBJECTS.values() for one in subjects]
)
def test_what_was_written_is_accepted_and_true(subject):
    assert subject.outcome(subject.text) == "true"


@pytest.mark.parametrize("stem", sorted(altered.SUBJECTS))
def test_the_last_uses_that_are_written_are_true_and_the_first_possible(stem):
    """The last step is the claim: it states none. One that no step uses states itself."""
    for subject in altered.SUBJECTS[stem]:
        certificate = vipr.parse(subject.text)
        numbered = list(enumerate(certificate.steps, len(certificate.constraints)))
        uses = {number: number for number, _ in numbered}
        for number, (_, _, reason, _) in numbered:
            used = reason[1:] if reason[0] == "uns" else reason[2::2]
            uses |= dict.fromkeys(map(int, used), number)
        stated = [last_use for _, (_, _, _, last_use) in numbered]
        assert stated == [*(uses[number] for number, _ in numbered[:-1]), None]


@pytest.mark.parametrize("stem", sorted(altered.SUBJECTS))
def test_both_checkers_refuse_a_step_that_is_used_after_its_last_use(stem):
    draw = random.Random(0)
    subject = max(altered.SUBJECTS[stem], key=lambda one: one.text.count("}"))
    lines = subject.text.splitlines()
    places = [k for k, line in enumerate(lines) if "}" in line][:-1]
    for at in draw.sample(places, min(len(places), 8)):
        step, _, number = lines[at].rpartition(" ")
        text = "\n".join([*lines[:at], f"{step} {int(number) - 1}", *lines[at + 1 :]])
        found, first, second = compared(subject, text)
        if int(number) > int(step.partition(" ")[0][1:]):  # it is used
            assert found == "refused"
            assert "is used after" in first.reason and "is used after" in second.reason


def test_another_bound_is_too_much():
    """A plan that is worth more than a proof says refutes the proof."""
    first = altered.SUBJECTS["admission"][0]
    wrong = altered.CertifiedInstance(first.instance)
    wrong.__dict__["optimum"] = (first.optimum[0] + 1,)
    assert wrong.outcome(first.text) == "false"


@pytest.mark.property
@given(st.integers(0, 2**32), st.sampled_from(sorted(altered.SUBJECTS)))
def test_no_altered_certificate_proves_more_than_is_true(seed, stem):
    draw = random.Random(seed)
    for _ in range(3):
        how, outcome = altered.one(draw, stem)
        assert outcome != "false", how
