"""Streams that keep an admission engine busy, in exact numbers."""

import random
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from dlopt import registry
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from tests.examples import share
from tests.heuristics.reference.admission_engine import admission
from tests.strategies import clusters

REGISTERED = tuple(
    entry.name
    for entry in registry.methods("admission")
    if str(entry.target).startswith("dlopt.heuristics.admission.methods")
)
LITERAL = tuple(name for name in REGISTERED if name.endswith(":literal"))
SOUND = tuple(name for name in REGISTERED if name not in LITERAL)
PROMISING = tuple(name for name in SOUND if Algorithm.parse(name).control)
TWINS = tuple(name for name in REGISTERED if Algorithm.parse(name).partition != "iit-1")
"""Algorithms that have a reference implementation."""

few = share(1 / 5)
"""For properties that are tested of each algorithm by itself."""

GAPS = [0, 0, 0, Fraction(1, 2), 1, Fraction(5, 3), 4]
loads = st.builds(Fraction, st.integers(1, 16), st.sampled_from([1, 1, 2, 3]))
instants = st.builds(Fraction, st.integers(0, 18), st.sampled_from([1, 2, 3]))
gaps = st.sampled_from(GAPS)
slacks = st.builds(Fraction, st.integers(1, 24), st.sampled_from([2, 4, 6]))


@dataclass(frozen=True)
class Stream:
    """A cluster as it stands at 0, and the tasks that arrive."""

    cluster: Cluster
    tasks: tuple[Task, ...]
    ready_times: tuple = ()
    channel_ready: object = 0

    def engine(self, algorithm, reference=False, **options):
        return admission(reference)(
            self.cluster,
            algorithm,
            ready_times=self.ready_times,
            channel_ready=self.channel_ready,
            **options,
        )

    @property
    def instance(self):
        return Instance(
            self.cluster,
            self.tasks,
            ready_times=self.ready_times,
            channel_ready=self.channel_ready,
        )

    def decided(self, algorithm, **options):
        engine = self.engine(algorithm, **options)
        for task in self.tasks:
            engine.submit(task)
        return engine


@st.composite
def streams(draw, *, tasks=8, most=4, setup=True, state=True, huge=True):
    """Return a stream whose deadlines are now loose and now tight.

    With `huge`, now and then the first task keeps all nodes busy, so that a queue builds up.
    """
    nodes = draw(st.integers(1, most))
    cluster = draw(clusters(nodes, setup=setup))
    ready, channel = (), 0
    if state and draw(st.booleans()):
        ready = tuple(draw(st.lists(instants, min_size=nodes, max_size=nodes)))
        channel = draw(instants)
    made, arrival, offset = [], Fraction(0), 0
    if huge and draw(st.booleans()):
        made.append(Task("huge", 0, 40, 10**4))
        arrival, offset = Fraction(1, 4), draw(st.sampled_from([40, 100, 400]))
    work = cluster.tau_of(0) + cluster.chi_of(0)
    for index in range(draw(st.integers(1, tasks))):
        arrival += draw(gaps)
        load = draw(loads)
        alone = cluster.theta_cm + cluster.theta_cp + load * work
        slack = draw(slacks)
        made.append(Task(f"t{index}", arrival, load, alone * slack + offset))
    return Stream(cluster, tuple(made), ready, channel)


def random_stream(seed, *, nodes, tasks, number=float, setup=False, load=0.6, backlog=0):
    """Return a long stream of random tasks; with `backlog`, all nodes are busy until then.

    Deadlines are spread beyond the backlog then, so that a queue builds up.
    """
    draw = random.Random(seed)
    tau, chi = 1, draw.choice([4, 20, 100])
    theta_cm, theta_cp = (draw.choice([1, 3]), 2) if setup else (0, 0)
    cluster = Cluster(nodes, number(tau), number(chi), number(theta_cm), number(theta_cp))
    made, arrival = [], Fraction(0)
    for index in range(tasks):
        work = Fraction(draw.randint(200, 4000), 37)
        arrival += (
            Fraction(draw.randint(0, 2000), 1000) * work * (tau + chi) / nodes / Fraction(load)
        )
        alone = work * (tau + Fraction(chi, nodes)) + theta_cm * nodes + theta_cp
        deadline = alone * Fraction(draw.randint(1100, 9000), 1009) + backlog
        if backlog:
            deadline += draw.randint(0, tasks) * 50 * (tau + Fraction(chi, nodes))
        made.append(Task(f"t{index}", number(arrival), number(work), number(deadline)))
    ready = tuple(number(backlog + draw.randint(0, 99)) for _ in range(nodes)) if backlog else ()
    return Stream(cluster, tuple(made), ready)
