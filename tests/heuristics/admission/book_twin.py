"""A naive record of what a book of divisible tasks promised and of what happened on the cluster."""

from itertools import pairwise
from operator import attrgetter

FLOAT_SLACK = 1e-6
"""By how much times of floats may overlap here; exact numbers may not overlap at all."""


class BookTwin:
    """Holds what a book says against what it said before; shares no code with it.

    Parameters
    ----------
    head : Admission
    slack : Number
        By how much times may overlap.
    """

    def __init__(self, head, slack=0):
        self.head, self.slack = head, slack
        self.promised = {}
        """Accepted tasks that are neither taken back, broken nor archived, by identity."""
        self.ended = {}
        """When tasks ended that did not end as planned."""
        self.excused = set()
        """Tasks that end after their deadline because they were reported late."""
        self.down = {}
        """When each node that is out of service because it failed did so."""
        self.outages = []
        self.runs = {}
        """What has begun to be sent: by task, node and start."""

    def promise(self, task):
        """Record that a task is promised."""
        self.promised[task.id] = task

    def drop(self, identities):
        """Record that tasks are taken back, broken, or handed out."""
        for identity in identities:
            self.promised.pop(identity, None)

    def fail(self, nodes):
        """Record that nodes fail now."""
        self.down.update(dict.fromkeys(nodes, self.head.now))

    def repair(self, nodes):
        """Record that nodes are repaired now."""
        for node in nodes:
            if node in self.down:
                self.outages.append((node, self.down.pop(node), self.head.now))

    def check(self):
        """Assert that the plan keeps what is promised, and that what happened can have happened."""
        now, plan = self.head.now, self.head.plan()
        accepted = {one.task for one in plan.decisions if one.accepted}
        assert accepted == set(self.promised)
        self._check_loads(plan)
        begun = {
            (chunk.task, chunk.node, chunk.transmission_start): chunk
            for chunk in plan.chunks
            if chunk.transmission_start < now
        }
        for key, run in self.runs.items():
            if key not in begun and run[1] > now:  # broken off
                self.runs[key] = min(run[0], now), now
        for key, chunk in begun.items():
            self.runs[key] = chunk.transmission_end, chunk.computation_end
        self._check_resources()

    def _check_loads(self, plan):
        for identity, task in self.promised.items():
            chunks = [chunk for chunk in plan.chunks if chunk.task == identity]
            load = sum(chunk.load for chunk in chunks)
            end = max((chunk.computation_end for chunk in chunks), default=0)
            if identity in self.ended:
                assert load <= task.load + self.slack
            else:
                assert abs(load - task.load) <= self.slack, (identity, load, task.load)
            if identity not in self.excused:
                assert end <= task.arrival + task.deadline + self.slack, (identity, end)
            assert min(map(attrgetter("transmission_start"), chunks), default=end) >= task.arrival

    def _check_resources(self):
        nodes, channel = {}, []
        for (_, node, start), (sent, end) in self.runs.items():
            nodes.setdefault(node, []).append((start, end))
            channel.append((start, sent))
        for spans in (*nodes.values(), channel):
            for (_, before), (start, _) in pairwise(sorted(spans)):
                assert start >= before - self.slack
        for node, since, until in self.outages:
            for start, end in nodes.get(node, ()):
                assert end <= since + self.slack or start >= until - self.slack
        for node, since in self.down.items():
            for _, end in nodes.get(node, ()):
                assert end <= since + self.slack
