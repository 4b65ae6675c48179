"""Searches for counterexamples that are stopped say what they have tried and found."""

import threading

import pytest

from dlopt import NotApplicableError, solve
from dlopt.verify import falsify
from dlopt.verify.shrinking import instance_size


def stopping_after(calls, stop, name):
    """Return a method that is a registered one, and stops the search in one of its calls."""
    seen = []

    def method(instance, *, objective, limits, hint, seed):
        seen.append(instance)
        if len(seen) == calls:
            stop.set()
        return solve(instance, name, objective=objective, seed=seed)

    return method, seen


def test_a_search_that_is_stopped_says_what_it_tried():
    stop = threading.Event()
    method, seen = stopping_after(7, stop, "edf-epr-an")
    search = falsify("admission", method, stop=stop, shipped=False)
    assert search.finding is None
    assert search.tried + search.not_applicable == len(seen) == 7
    again = falsify("admission", method, stop=stop, shipped=False, examples=50)
    assert (again.tried, again.not_applicable, len(seen)) == (0, 0, 7)


@pytest.mark.parametrize("target", ["claim", "gap"])
def test_a_search_that_is_stopped_returns_what_it_found(target):
    flawed = "edf-opr-mn:literal" if target == "claim" else "edf-epr-an"
    whole = falsify("admission", flawed, target=target, shipped=False, examples=60)
    stop = threading.Event()
    calls = whole.tried + whole.not_applicable
    method, seen = stopping_after(calls, stop, flawed)
    search = falsify("admission", method, target=target, shipped=False, examples=60, stop=stop)
    assert (search.tried, search.finding.kind) == (whole.tried, whole.finding.kind)
    assert len(seen) == calls
    assert instance_size(search.finding.instance) > instance_size(whole.finding.instance)


def test_what_stops_a_search_is_an_event():
    with pytest.raises(NotApplicableError, match=r"stop is a threading\.Event, not a bool"):
        falsify("iit", "opr", stop=True)
