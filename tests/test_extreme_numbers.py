"""Instances with extreme numbers: a checked answer or a refusal, of every method."""

from itertools import islice
from typing import Any

import pytest

from benchmarks.extreme_numbers import extreme, faults, instances, places
from dlopt import NotApplicableError, io, registry, solve


@pytest.mark.parametrize("stem", registry.stems())
def test_every_method_answers_or_refuses(stem: str) -> None:
    for instance, data in islice(instances([stem], seed=1), 12):
        assert not list(faults(instance, limit=5)), data


def with_numbers_times(data: Any, factor: float) -> Any:
    """Return an instance as JSON states it, all numbers as floats of another size."""
    if isinstance(data, dict):
        kept = {"nodes", "version", "id", "name", "problem"}
        return {key: value if key in kept else with_numbers_times(value, factor)
                for key, value in data.items()}  # fmt: skip
    if isinstance(data, list):
        return [with_numbers_times(value, factor) for value in data]
    return float(data) * factor


LOAD = {"problem": "iit", "version": 1, "name": "a", "load": 3, "ready_times": [0, 1],
        "cluster": {"nodes": 2, "tau": 1, "chi": 2}}  # fmt: skip
STREAM = {"problem": "admission", "version": 1, "name": "a", "cluster": LOAD["cluster"],
          "tasks": [{"id": "a", "arrival": 0, "load": 2, "deadline": 9}]}  # fmt: skip


@pytest.mark.parametrize("data", [LOAD, STREAM], ids=["iit", "admission"])
@pytest.mark.parametrize(
    ("size", "is_named"),
    [(5e-324, True), (1e-300, True), (1e-30, False), (1e30, False), (1e90, True)],
)
def test_methods_answer_for_numbers_of_every_size_or_name_them(
    data: Any, size: float, is_named: bool
) -> None:
    """Of very small and very large ones the products may be 0, or larger than a plan may state."""
    instance = io.instance_from_data(with_numbers_times(data, size))
    named = set()
    for entry in registry.methods(instance.problem):
        try:
            solve(instance, entry.name)
        except NotApplicableError as refusal:
            named.add("cannot compute with numbers as small or large as" in str(refusal))
    assert (True in named) == is_named


def test_numbers_are_found_and_changed() -> None:
    class Draw:
        """Multiplies every number by 1000, or by a thousandth."""

        random = staticmethod(lambda: 1.0)
        sample = staticmethod(lambda paths, _: paths)
        choice = staticmethod(max)

        def __init__(self, power: int) -> None:
            self.randint = lambda *_: power

    data = {"version": 1, "load": 2, "etc": [[1.5, None, True]], "cluster": {"nodes": 3, "tau": 4}}
    assert list(places(data)) == [("load",), ("etc", 0, 0), ("cluster", "tau")]
    extreme(data, Draw(3))
    assert data["load"] == 2000 and data["etc"][0][0] == 1500.0 and data["cluster"]["nodes"] == 3
    extreme(data, Draw(-3))
    assert data["load"] == "2000/1000"
