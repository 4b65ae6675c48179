"""Instances with extreme numbers: a checked answer or a refusal, of every method."""

from itertools import islice

import pytest

from benchmarks.extreme_numbers import extreme, faults, instances, places
from dlopt import registry


@pytest.mark.parametrize("stem", registry.stems())
def test_every_method_answers_or_refuses(stem: str) -> None:
    for instance, data in islice(instances([stem], seed=1), 12):
        assert not list(faults(instance, limit=5)), data


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
