"""The strategies that users test their own methods with."""

import subprocess
import sys

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlopt import io, registry, solve
from dlopt.verify import strategies
from dlopt.verify.instance_builders import Size, builder, stems
from dlopt.verify.shrinking import instance_size
from tests.examples import share

FEW = share(1 / 4)


@pytest.mark.parametrize("stem", stems())
@pytest.mark.property
def test_instances_are_valid_and_are_read_again(stem):
    @FEW
    @given(getattr(strategies, stem)())
    def property_of(instance):
        assert instance.problem == stem
        assert io.instance_from_data(io.instance_to_data(instance)) == instance

    property_of()


def test_every_problem_has_a_strategy():
    assert stems() == registry.stems()


@pytest.mark.property
@FEW
@given(strategies.admission(jobs=2, machines=2), st.sampled_from(["edf-opr-mn", "edf-epr-an"]))
def test_no_sound_algorithm_beats_the_optimum(instance, name):
    if registry.method("admission", name).reason_against(instance) is None:
        assert solve(instance, name).value <= solve(instance).value


@pytest.mark.parametrize("stem", stems())
def test_hypothesis_shrinks_to_the_smallest(stem):
    some = strategies.instances(stem)
    quick = settings(share(5 / 3), database=None)
    small = hypothesis.find(some, lambda one: instance_size(one)[1] > 1, settings=quick)
    assert instance_size(small)[:2] == (1, 2)


def test_a_search_by_hypothesis_ends_without_an_instance():
    seen = []
    strategies.find_by_hypothesis(builder("iit", Size(1, 2)), seen.append, examples=7, seed=3)
    assert 0 < len(seen) <= 7
    assert all(instance.cluster.nodes <= 2 for instance in seen)


def test_hypothesis_is_imported_by_the_strategies_alone():
    program = (
        "import sys, dlopt, dlopt.cli.app, dlopt.verify, dlopt.verify.falsification;"
        "assert 'hypothesis' not in sys.modules;"
        "from dlopt.verify import strategies; assert 'hypothesis' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
