"""What the search can draw: every feature that the instance formats allow."""

import random
from collections import Counter
from itertools import chain

import pytest

from dlopt import registry
from dlopt.verify.choice_sequence import Choices, RandomSource, instances_of_weight
from dlopt.verify.instance_builders import Size, builder
from tests.verify.instance_features import allowed, features

DRAWN = 1000
"""Instances of each problem that are drawn: a search of a few seconds tries more."""

NOT_SIMPLE = {
    "iit": {
        "only unit processing times differ",
    },
    "admission": {
        "only unit processing times differ",
    },
    "multistage": {
        "a chunk without load",
        "a part sent, and what remains given",
        "nodes named in descending order",
        "only unit processing times differ",
        "only unit transmission times differ",
        "set-up costs and nodes that differ",
    },
    "coreservation": {
        "a benefit below 1",
        "holdings beyond the capacity",
        "no benefit",
        "several holdings beyond the capacity",
    },
    "dag": {
        "Link.latency not by default",
        "Network.wan_links not by default",
        "Task.costs with None",
        "WAN links in both directions",
        "a deadline that cannot be met",
        "a graph that comes from a LAN without machines",
        "a graph that must stay in one of several LANs",
        "a link to a machine of lower number",
        "a task that runs on one of several machines only",
        "a task that takes no time",
        "an edge to a task of lower number",
        "delays with data sent by schedulers",
        "edges not in the order of their sources",
        "links between machines in LANs",
        "links in both directions",
        "one LAN for a graph with tasks that cannot run everywhere",
        "work and costs in one graph",
    },
    "bag": {
        "Instance.etc with None",
        "a cycle of links",
        "a machine that cannot run a task with a deadline",
        "a task that runs on one of several machines only",
    },
}
"""Features that no instance has whose choices sum to 3; with larger sums there are too many."""


@pytest.mark.parametrize("stem", registry.stems())
def test_every_feature_is_drawn(stem):
    build, rng = builder(stem), random.Random(0)
    seen = Counter()
    for _ in range(DRAWN):
        seen.update(features(build(Choices(RandomSource(rng)))))
    assert set(seen) == allowed(stem)


@pytest.mark.parametrize("stem", registry.stems())
def test_simple_instances_have_nearly_every_feature(stem):
    simple = chain.from_iterable(instances_of_weight(builder(stem), sum_) for sum_ in range(4))
    seen = set(chain.from_iterable(features(instance) for instance, _ in simple))
    assert allowed(stem) - seen == NOT_SIMPLE[stem]


@pytest.mark.parametrize("stem", registry.stems())
def test_the_simplest_instance_is_a_plain_one(stem):
    [(simplest, _)] = instances_of_weight(builder(stem), 0)
    [(plain, _)] = instances_of_weight(builder(stem, Size(plain=True)), 0)
    assert simplest == plain


def test_plain_instances_lack_the_rarer_features():
    build, rng = builder("dag", Size(plain=True)), random.Random(0)
    seen = Counter()
    for _ in range(200):
        seen.update(features(build(Choices(RandomSource(rng)))))
    rarer = allowed("dag") - set(seen)
    assert {
        "an edge to a task of lower number",
        "Task.costs with None",
        "Graph.one_lan not by default",
        "Network.links not by default",
        "Network.wan_links not by default",
        "Machine.delay not by default",
    } <= rarer
