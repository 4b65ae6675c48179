"""The strategies that users test their own methods with."""

import os
import subprocess
import sys
import threading

import hypothesis
import pytest
from hypothesis import configuration, given, settings
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


def hypothesis_home():
    return configuration.storage_directory(intent_to_write=False).path


def test_a_search_by_hypothesis_writes_to_a_temporary_folder_only():
    before, during = hypothesis_home(), set()
    strategies.find_by_hypothesis(
        builder("iit"), lambda one: during.add(hypothesis_home()), examples=3, seed=0
    )
    assert hypothesis_home() == before
    [folder] = during
    assert folder != before
    assert not folder.exists()


def test_a_search_by_hypothesis_leaves_the_working_folder_empty(tmp_path):
    program = (
        "from dlopt.verify import strategies; from dlopt.verify.instance_builders import builder;"
        "seen = []; strategies.find_by_hypothesis("
        "builder('iit'), seen.append, examples=3, seed=0); assert seen"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("HYPOTHESIS_STORAGE_DIRECTORY", None)
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, timeout=120, cwd=tmp_path, env=environment)
    assert list(tmp_path.iterdir()) == []


def test_searches_in_two_threads_restore_the_folder_of_hypothesis():
    """The second one begins during the first, and would end after it."""
    before = hypothesis_home()
    second_began, first_ended = threading.Event(), threading.Event()

    def search(violates):
        strategies.find_by_hypothesis(builder("iit"), violates, examples=1, seed=0)

    def during_second(instance):
        second_began.set()
        first_ended.wait(60)

    second = threading.Thread(target=search, args=[during_second])

    def during_first(instance):
        second.start()
        second_began.wait(0.3)  # it does not begin before the first one ends

    search(during_first)
    first_ended.set()
    second.join(60)
    assert second_began.is_set()
    assert hypothesis_home() == before


def test_hypothesis_is_imported_by_the_strategies_alone():
    program = (
        "import sys, dlopt, dlopt.cli.app, dlopt.verify, dlopt.verify.falsification;"
        "assert 'hypothesis' not in sys.modules;"
        "from dlopt.verify import strategies; assert 'hypothesis' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
