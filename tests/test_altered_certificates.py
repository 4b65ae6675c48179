"""No certificate that was altered proves more than is true; `benchmarks` alters thousands."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import altered_certificates as altered


@pytest.mark.parametrize(
    "subject", [one for subjects in altered.SUBJECTS.values() for one in subjects]
)
def test_what_was_written_is_accepted_and_true(subject):
    assert subject.outcome(subject.text) == "true"


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
