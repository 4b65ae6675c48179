"""Instances as files: what is written is read again, and equal instances have equal hashes.

Files that are wrong are tested in `test_io_bad_files`, results in `test_io_results`.
"""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given

from dlopt import io
from dlopt.arithmetic import exact
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from tests import strategies
from tests.instance_files import SHIPPED, TEXT, VALID, edited, everything, instances, written

F = Fraction

# --- reading and writing instances ---------------------------------------------------------


@pytest.mark.property
@given(instances())
def test_an_instance_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance
) -> None:
    path = tmp_path_factory.mktemp("round") / "instance.json"
    io.write(instance, path)
    again = io.read(path)
    assert everything(again) == everything(instance)
    assert again.exact is instance.exact
    assert io.instance_hash(again) == io.instance_hash(instance)


@pytest.mark.property
@given(strategies.iit(identical=False, deadline=True))
def test_exact_numbers_are_read_exactly_either_way(instance: Instance) -> None:
    text = json.dumps(io.instance_to_data(instance))
    assert io.instance_from_data(json.loads(text)) == instance
    assert io.instance_from_data(json.loads(text)).exact


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_instances_are_read_and_written_back(path: Path, tmp_path: Path) -> None:
    instance = io.read(path)
    assert instance.name == path.stem
    io.write(instance, tmp_path / "again.json")
    assert everything(io.read(tmp_path / "again.json")) == everything(instance)
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


def test_a_file_begins_with_what_it_is(tmp_path: Path) -> None:
    io.write(io.instance_from_data(VALID), tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    assert text.startswith('{\n "problem": "iit",\n "version": 1,\n "name": "three",\n')
    assert text.endswith("}\n")
    assert list(json.loads(text))[-1] == "best_known"
    assert json.loads(text) == VALID


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbf" + json.dumps(VALID).encode())
    assert io.read(path) == io.instance_from_data(VALID)


def test_decimals_can_be_read_as_the_rationals_that_they_spell(
    tmp_path: Path,
) -> None:
    text = (
        '{"problem": "iit", "version": 1, "cluster": {"nodes": 1, "tau": 0.1, "chi": 2.50e-1},'
        ' "ready_times": [0.0], "load": 1E2}'
    )
    rational = io.read(written(tmp_path, text), exact_numbers=True)
    assert rational.cluster == Cluster(1, F(1, 10), F(1, 4))
    assert (rational.ready_times, rational.load) == ((0,), 100)
    assert rational.exact
    floating = io.read(written(tmp_path, text))
    assert floating.cluster.tau == 0.1 and exact(0.1) == rational.cluster.tau
    assert {type(floating.cluster.tau), type(floating.load)} == {float}


def test_all_numbers_can_be_read_as_floats(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    floats = io.read(path, float_numbers=True)
    assert floats == io.read(path)
    assert floats.name == "three"
    cluster = floats.cluster
    numbers = (*cluster.tau, cluster.chi, cluster.theta_cm, *floats.ready_times, floats.load)
    assert {type(number) for number in (*numbers, floats.absolute_deadline)} == {float}
    assert type(cluster.nodes) is int
    with pytest.raises(NotApplicableError, match="either as exact ones or as floats"):
        io.read(path, exact_numbers=True, float_numbers=True)
    path = written(tmp_path, edited('"load": 3', '"load": "1e-9999"'))
    assert io.read(path).load == F(1, 10**9999)
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(path, float_numbers=True)
    assert str(caught.value) == f"{path}: load: must be positive, got 0.0"


def test_a_path_may_be_a_text(tmp_path: Path) -> None:
    assert io.read(str(written(tmp_path, json.dumps(VALID)))).name == "three"


# --- hashes --------------------------------------------------------------------------------


def hash_of(**changes: object) -> str:
    return io.instance_hash(io.instance_from_data({**VALID, **changes}))


def test_the_hash_is_that_of_a_text_that_never_changes() -> None:
    """Results that were saved name their instance by this hash."""
    text = (
        '{"absolute_deadline":20,"cluster":{"chi":"3/2","nodes":3,"tau":[1,2,3],"theta_cm":"1/2",'
        '"theta_cp":0},"load":3,"problem":"iit","ready_times":[0,1,4]}'
    )
    assert hash_of() == hashlib.sha256(text.encode()).hexdigest()
    none = text.replace(":20,", ":null,")
    assert hash_of(absolute_deadline=None) == hashlib.sha256(none.encode()).hexdigest()


def test_the_hash_leaves_out_what_an_instance_says_of_itself() -> None:
    before = hash_of()
    assert len(before) == 64
    assert hash_of(name="other", origin="elsewhere", units="s", best_known=[]) == before


def test_the_hash_does_not_depend_on_how_numbers_are_written() -> None:
    before = hash_of()
    cluster = {"theta_cm": "2/4", "chi": 1.5, "tau": ["1", 2.0, "9/3"], "nodes": 3, "theta_cp": 0.0}
    spelled = {"cluster": cluster, "ready_times": ["0", 1.0, "8/2"], "load": 3.0}
    assert hash_of(**spelled, absolute_deadline="2e1") == before
    assert hash_of(load="30e-1") == before


@pytest.mark.parametrize(
    "change",
    [
        {"load": 4},
        {"load": 3.0000000000000004},
        {"absolute_deadline": None},
        {"absolute_deadline": 21},
        {"ready_times": [0, 4, 1]},
        {"cluster": {**VALID["cluster"], "tau": [1, 3, 2]}},
        {"cluster": {**VALID["cluster"], "chi": ["3/2", "3/2", "3/2"]}},
        {"cluster": {**VALID["cluster"], "theta_cm": 0}},
        {"cluster": {**VALID["cluster"], "theta_cp": 0.5}},
    ],
)
def test_the_hash_tells_other_instances_apart(change: dict[str, object]) -> None:
    assert hash_of(**change) != hash_of()


def test_a_float_is_the_decimal_that_it_prints() -> None:
    assert hash_of(load="1/10") == hash_of(load=0.1)
    assert hash_of(load="1/10") != hash_of(load=0.1 + 2e-17)  # the next float
    assert hash_of(load="1/2") == hash_of(load=0.5)


@pytest.mark.property
@given(instances(), instances())
def test_hashes_are_equal_iff_instances_are(left: Instance, right: Instance) -> None:
    assert (io.instance_hash(left) == io.instance_hash(right)) is (left == right)


@pytest.mark.property
@given(instances())
def test_floats_have_the_hash_of_the_decimals_that_they_print(instance: Instance) -> None:
    rational = replace(
        instance, load=exact(instance.load), ready_times=tuple(map(exact, instance.ready_times))
    )
    assert io.instance_hash(rational) == io.instance_hash(instance)
