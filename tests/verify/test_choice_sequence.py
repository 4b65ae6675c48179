"""One builder, driven by chance, by a recording, by weight: the same choices, the same instance."""

import random

import pytest

from dlopt.errors import NotApplicableError
from dlopt.verify import choice_sequence as module
from dlopt.verify import falsify
from dlopt.verify.choice_sequence import Choices, RandomSource, RecordedSource, instances_of_weight
from dlopt.verify.instance_builders import Size, builder, stems
from dlopt.verify.shrinking import instance_size


def pairs(choices):
    return choices.integer(0, 2), choices.pick("aab"), choices.chance(3)


def test_every_choice_of_some_weight_comes_once_and_no_other():
    made = [built for weight in range(6) for built, _ in instances_of_weight(pairs, weight)]
    assert sorted(made) == sorted(
        (one, two, three) for one in range(3) for two in "ab" for three in (False, True)
    )
    assert [
        sum(record) for weight in range(3) for _, record in instances_of_weight(pairs, weight)
    ] == ([0] + [1] * 3 + [2] * 4)


def test_a_choice_may_say_which_come_next():
    def tree(choices):
        return [choices.integer(0, 1) for _ in range(choices.integer(0, 2))]

    assert [built for weight in range(5) for built, _ in instances_of_weight(tree, weight)] == [
        [],
        [0],
        [1],
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
    ]


def test_a_deadline_shortly_after_the_first_ready_time_needs_no_other_choice():
    """Enumeration would yield the instance again for every value of a choice without effect."""
    cluster, together, load, deadline, early, length = [0, 0, 0, 0], 1, 0, 0, 1, 2
    record = [*cluster, together, load, deadline, early, length]
    choices = Choices(RecordedSource(record))
    instance = builder("iit")(choices)
    assert choices.record == record
    assert (instance.ready_times, instance.absolute_deadline) == ((0,), 2)


def test_an_option_named_twice_is_likelier_by_chance():
    choices = Choices(RandomSource(random.Random(0)))
    drawn = [choices.pick("aaab") for _ in range(400)]
    assert 240 < drawn.count("a") < 360


def test_chance_never_leaves_the_options():
    class One(random.Random):
        def random(self):
            return 1 - 2**-53

    choices = Choices(RandomSource(One()))
    assert choices.pick("ab") == "b"
    assert choices.integer(0, 9) == 9
    assert RandomSource(One()).index((0.1,) * 3) == 2  # what is left over by rounding


def test_subset_and_order():
    assert Choices(RecordedSource([])).subset(3) == []
    assert Choices(RecordedSource([0, 1, 0])).subset(3, least=2) == [0, 1]
    assert Choices(RecordedSource([2, 1, 0])).shuffled(3) == [2, 1, 0]


def test_a_builder_without_end_is_told(monkeypatch):
    monkeypatch.setattr(module, "MAX_CHOICES", 5)
    choices = Choices(RecordedSource([]))
    with pytest.raises(RuntimeError, match="more than 5 choices"):
        [choices.chance(2) for _ in range(6)]


@pytest.mark.parametrize("stem", stems())
def test_choices_that_are_recorded_make_the_same_instance(stem):
    build, rng = builder(stem), random.Random(1)
    for _ in range(40):
        choices = Choices(RandomSource(rng))
        made = build(choices)
        again = Choices(RecordedSource(choices.record))
        assert build(again) == made
        assert again.record == choices.record


@pytest.mark.parametrize("stem", stems())
def test_instances_are_no_larger_than_they_may_be(stem):
    build, rng = builder(stem, Size(jobs=2, machines=2)), random.Random(2)
    sizes = [instance_size(build(Choices(RandomSource(rng)))) for _ in range(200)]
    assert max(machines for _, machines, _ in sizes) == 2
    most = {"iit": 1, "dag": 3, "coreservation": 4}.get(stem, 2)  # two parts a request
    assert max(jobs for jobs, _, _ in sizes) == most


@pytest.mark.parametrize("stem", stems())
def test_the_lightest_instance_has_one_job_on_one_machine(stem):
    [(made, record)] = instances_of_weight(builder(stem), 0)
    assert instance_size(made)[:2] == (1, 1)
    assert not any(record)


@pytest.mark.parametrize("stem", ["admission", "multistage"])
def test_streams_may_begin_with_promises(stem):
    shares = []
    for size in (Size(plain=True), Size(), Size(busy=True), Size(busy=True, plain=True)):
        build, rng = builder(stem, size), random.Random(3)
        made = [build(Choices(RandomSource(rng))) for _ in range(200)]
        assert any(one.now > 0 for one in made) == any(one.committed for one in made)
        shares.append(sum(one.now > 0 for one in made) / len(made))
    assert shares[0] == 0 < shares[1] < 0.2 < 0.4 < min(shares[2:])


@pytest.mark.parametrize(
    ("stem", "name"), [("admission", "edf-iit-2"), ("multistage", "multi-stage")]
)
def test_promises_are_kept_by_what_is_sound(stem, name):
    search = falsify(stem, name, examples=80, size=Size(busy=True))
    assert search.finding is None
    assert search.tried > 0


def test_what_cannot_be_built_is_told():
    with pytest.raises(NotApplicableError, match="no builder of 'tsp'"):
        builder("tsp")
    with pytest.raises(NotApplicableError, match="jobs must be an integer from 1 on, got 0"):
        Size(0, 1)
