"""Families of bags of tasks, and instances of ETC matrices."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

from dlopt.arithmetic import Number, simplest
from dlopt.errors import NotApplicableError
from dlopt.formats.etc import EtcMatrix
from dlopt.generation.distributions import check_choice, check_counts, positive_float
from dlopt.problems.bag import Instance, Link, Machine, Site, Task
from dlopt.problems.bag.data import PRIORITIES, Priority

MOST = 100_000
"""Largest number of tasks or machines of an instance; larger ones are considered a mistake."""


def instance_from_etc(matrix: EtcMatrix) -> Instance:
    """Return an ETC matrix as an instance: all tasks are released at 0, without deadlines.

    Examples
    --------
    >>> instance_from_etc(EtcMatrix("two", ((1, 2), (3, 4)))).etc
    ((1, 2), (3, 4))
    """
    return Instance(etc=matrix.times, name=matrix.name, origin=f"ETC matrix {matrix.name}".strip())


def braun(
    *,
    tasks: int = 512,
    machines: int = 16,
    consistency: str = "inconsistent",
    task_heterogeneity: Number = 3000,
    machine_heterogeneity: Number = 1000,
    numbers: str = "float",
    seed: int = 0,
) -> Instance:
    """Return an ETC matrix by the range-based method of Braun et al. 2001.

    Each task has a baseline, uniform from 1 to the task heterogeneity, and each of its times is
    that baseline times a factor, uniform from 1 to the machine heterogeneity.

    Parameters
    ----------
    tasks, machines : int
        Numbers of tasks and machines; the matrices of the paper are 512 by 16.
    consistency : {"consistent", "inconsistent", "semi-consistent"}
        Structure of the matrix: inconsistent matrices are random. In consistent ones each row is
        sorted, so that machines are fast in the same order for all tasks; in semi-consistent ones
        the entries of machines 0, 2, 4, ... of each row are sorted.
    task_heterogeneity, machine_heterogeneity : Number
        Largest baseline of a task, and largest factor of a machine, above 1; Braun et al. have 3000
        and 1000 (high), and 100 and 10 (low).
    numbers : {"float", "integer"}
        Type of the baselines and factors.
    seed : int

    Returns
    -------
    Instance
    """
    check_counts(MOST, tasks=tasks, machines=machines)
    check_choice("consistency", consistency, ("consistent", "inconsistent", "semi-consistent"))
    check_choice("numbers", numbers, ("float", "integer"))
    ends = {
        "task_heterogeneity": task_heterogeneity,
        "machine_heterogeneity": machine_heterogeneity,
    }
    for name, value in ends.items():
        if positive_float(name, value) <= 1:
            raise NotApplicableError(f"{name} must be above 1, got {value}")
    random_one = random.Random(f"braun {seed}")

    def draw(most: Number) -> Number:
        return (
            random_one.uniform(1, float(most))
            if numbers == "float"
            else random_one.randint(1, int(most))
        )

    rows = []
    for _ in range(tasks):
        base = draw(task_heterogeneity)
        row = [base * draw(machine_heterogeneity) for _ in range(machines)]
        if consistency == "consistent":
            row.sort()
        elif consistency == "semi-consistent":
            row[::2] = sorted(row[::2])
        rows.append(tuple(row))
    return Instance(
        etc=tuple(rows),
        name=f"braun-{tasks}x{machines}-{consistency}-{seed}",
        origin=f"dlopt generate bag --family braun, seed {seed}",
    )


def gds(
    *,
    sites: int = 17,
    fewest: int = 20,
    most: int = 50,
    tasks: int = 2000,
    degree: int = 4,
    least_ccr: Number = 0.05,
    largest_ccr: Number = 20,
    input_share: Number = 0.5,
    slowest: Number = 1,
    fastest: Number = 10,
    bandwidth: Number = 10,
    latency: Number = 0,
    work: Number = 100,
    load: Number = 1,
    tightness: Number = 2,
    critical: Number = 0.3,
    firm: Number = 0.4,
    seed: int = 0,
) -> Instance:
    """Return a grid of the kind that Liu, Baskiyar and Li simulate.

    The paper gives the sites, their machines, and the range of the ratio of communication to
    computation (CCR); every other parameter here is our choice, for it states none.

    Parameters
    ----------
    sites : int
        Number of sites; 17 in the paper.
    fewest, most : int
        Smallest and largest number of machines of a site, uniformly distributed; 20 and 50 in the
        paper.
    tasks : int
        Number of tasks, all released at 0 at uniformly random sites.
    degree : int
        Mean number of neighbours of a site, at least 1: sites are connected by a random tree, in
        which it is about 2, and by links between random pairs.
    least_ccr, largest_ccr : Number
        Smallest and largest communication-to-computation ratio (CCR) of a task, whose logarithm is
        uniformly distributed; 0.05 and 20 in the paper.
    input_share : Number
        Fraction of the data of a task that is its input, from 0 to 1; the rest is its output.
    slowest, fastest : Number
        Smallest and largest power of a machine; uniformly distributed.
    bandwidth : Number
        Mean bandwidth of a link; uniform from half to one and a half times the mean.
    latency : Number
        Latency of every link.
    work : Number
        Mean work of a task; uniform from half to one and a half times the mean.
    load : Number
        Tightness of the longest deadlines: deadlines are uniform, up to the time that all machines
        together need for all work, divided by `load`. From about 1 on some are missed.
    tightness : Number
        Shortest deadline, as a multiple of the time of the task on a machine of mean power.
    critical, firm : Number
        Probability that a task is critical, and that it is firm; the other tasks are soft.
    seed : int

    Returns
    -------
    Instance
    """
    check_counts(MOST, sites=sites, tasks=tasks, fewest=fewest, most=most, degree=degree)
    low, high = positive_float("least_ccr", least_ccr), positive_float("largest_ccr", largest_ccr)
    slow, fast = positive_float("slowest", slowest), positive_float("fastest", fastest)
    for names, ends in (
        ("fewest and most", (fewest, most)),
        ("least_ccr and largest_ccr", (low, high)),
        ("slowest and fastest", (slow, fast)),
    ):
        if ends[0] > ends[1]:
            raise NotApplicableError(f"{names} must be in ascending order, got {ends}")
    _check_shares(input_share, critical, firm)
    draw = random.Random(f"gds {seed}")
    machines = [
        Machine(f"s{site}m{index}", site, draw.uniform(slow, fast))
        for site in range(sites)
        for index in range(draw.randint(fewest, most))
    ]
    width = positive_float("bandwidth", bandwidth)
    links = tuple(
        Link(pair, draw.uniform(0.5, 1.5) * width, float(latency))
        for pair in _random_connected_graph(draw, sites, degree)
    )
    powers = [[float(one.power) for one in machines if one.site == site] for site in range(sites)]
    computing = [sum(own) / len(own) for own in powers]
    total = sum(map(sum, powers))
    size = positive_float("work", work)
    works = [size * draw.uniform(0.5, 1.5) for _ in range(tasks)]
    span = sum(works) / total / positive_float("load", load)
    alone = positive_float("tightness", tightness) * len(machines) / total
    made = []
    for index, own in enumerate(works):
        site = draw.randrange(sites)
        ratio = low * (high / low) ** draw.random()
        data = ratio * own * _data_per_work(site, links, computing)
        made.append(
            Task(
                f"t{index}",
                own,
                site,
                0.0,
                data * float(input_share),
                data * (1 - float(input_share)),
                _priority_of(draw.random(), float(critical), float(firm)),
                max(alone * own, draw.uniform(0, span)),
            )
        )
    return Instance(
        tuple(made),
        tuple(machines),
        tuple(Site(f"s{site}") for site in range(sites)),
        links,
        name=f"gds-{sites}x{tasks}-{seed}",
        origin=f"dlopt generate bag --family gds, seed {seed}",
    )


def _check_shares(input_share: Number, critical: Number, firm: Number) -> None:
    shares = {"input_share": input_share, "critical": critical, "firm": firm}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise NotApplicableError(f"{name} must be a share from 0 to 1, got {share}")
    if critical + firm > 1:
        raise NotApplicableError(f"critical and firm must be at most 1, got {critical + firm}")


def _random_connected_graph(draw: random.Random, sites: int, degree: int) -> list[tuple[int, int]]:
    """Return the edges of a random tree, and random edges up to the given average degree."""
    pairs = {(draw.randrange(there), there) for there in range(1, sites)}
    wanted = min(sites * degree // 2, sites * (sites - 1) // 2)
    while len(pairs) < wanted:
        one, other = sorted(draw.sample(range(sites), 2))
        pairs.add((one, other))
    return sorted(pairs)


def _data_per_work(site: int, links: tuple[Link, ...], computing: list[float]) -> float:
    """Return the data per unit of work at which the CCR is 1, by eq. (1) without latency."""
    adjacent = [link for link in links if site in link.between]
    if not adjacent:
        return 0.0
    neighbours = [computing[sum(link.between) - site] for link in adjacent]
    sending = sum(1 / float(link.bandwidth) for link in adjacent) / len(adjacent)
    return len(neighbours) / sum(neighbours) / sending


def _priority_of(drawn: float, critical: float, firm: float) -> Priority:
    if drawn < critical:
        return "critical"
    return "firm" if drawn < critical + firm else "soft"


def small(
    *,
    tasks: int = 6,
    machines: int = 3,
    sites: int = 2,
    largest: int = 6,
    fastest: int = 3,
    data: int = 4,
    span: int = 0,
    parts: int = 1,
    tightness: Number = 2,
    deadlines: str = "all",
    seed: int = 0,
) -> Instance:
    """Return a few random tasks in exact numbers, for exact methods and for tests.

    Works, powers, releases, data, deadlines and priorities are uniformly distributed.

    Parameters
    ----------
    tasks, machines, sites : int
        Numbers of tasks, machines and sites. Machines are assigned to the sites in turn; sites form
        a random tree.
    largest : int
        Largest work of a task.
    fastest : int
        Largest power of a machine.
    data : int
        Largest input and output of a task.
    span : int
        Last release of a task; the first may be 0.
    parts : int
        Denominator of all numbers: works, releases and deadlines are multiples of 1 / `parts`.
    tightness : Number
        Looseness of the deadlines, at least 1: the time to a deadline is uniform, from the time of
        the task on the fastest machine to `tightness` times the time of all tasks on all machines
        together (if that is longer), rounded up.
    deadlines : {"all", "none", "some"}
        Which tasks have deadlines: all, none, or one in two (some).
    seed : int

    Returns
    -------
    Instance
    """
    check_counts(1000, tasks=tasks, machines=machines, sites=sites)
    check_counts(10**6, largest=largest, fastest=fastest, parts=parts)
    for name, value in (("data", data), ("span", span)):
        if not isinstance(value, int) or value < 0:
            raise NotApplicableError(f"{name} must be an integer from 0, got {value!r}")
    if tightness < 1:
        raise NotApplicableError(f"tightness must be at least 1, got {tightness}")
    check_choice("deadlines", deadlines, ("all", "none", "some"))
    draw = random.Random(f"small bag {seed}")
    machine_list = [
        Machine(f"m{index}", index % sites, draw.randint(1, fastest)) for index in range(machines)
    ]
    powers = [Fraction(one.power) for one in machine_list]
    works = [Fraction(draw.randint(1, largest * parts), parts) for _ in range(tasks)]
    together = Fraction(tightness) * sum(works) / sum(powers)
    made = []
    for index, work in enumerate(works):
        release = Fraction(draw.randint(0, span * parts), parts)
        soonest = -(-work / max(powers) * parts // 1)
        latest = max(soonest, -(-together * parts // 1))
        due = release + Fraction(draw.randint(int(soonest), int(latest)), parts)
        wanted = deadlines == "all" or (deadlines == "some" and draw.random() < 0.5)
        made.append(
            Task(
                f"t{index}",
                simplest(work),
                draw.randrange(sites),
                simplest(release),
                draw.randint(0, data),
                draw.randint(0, data),
                draw.choice(PRIORITIES),
                simplest(due) if wanted else None,
            )
        )
    return Instance(
        tuple(made),
        tuple(machine_list),
        tuple(Site(f"s{site}") for site in range(sites)),
        tuple(
            Link(pair, draw.randint(1, 4), draw.randint(0, 1))
            for pair in _random_connected_graph(draw, sites, 2)
        ),
        name=f"small-{tasks}x{machines}-{seed}",
        origin=f"dlopt generate bag --family small, seed {seed}",
    )


FAMILIES: dict[str, Callable[..., Instance]] = {"small": small, "gds": gds, "braun": braun}
