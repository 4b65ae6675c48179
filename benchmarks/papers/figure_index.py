"""Index of all figures and tables of the five papers: the module of each, or why there is none.

The numbers are those of the papers. Figures without numbers (a diagram, a listing) are included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MAMAT = "Mamat 2011"
LIN = "Lin et al. 2005"
CHEN = "Chen 2001"
MIN = "Min 2001"
LIU = "Liu et al. 2007"

PAPERS = {"mamat": MAMAT, "lin": LIN, "chen": CHEN, "min": MIN, "liu": LIU}
"""By the names that --only takes."""

DIAGRAM = "explains; no numbers"
LISTING = "an algorithm, which is implemented"


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure or a table of a paper.

    Parameters
    ----------
    paper : str
    label : str
        As printed: ``4.6``, or ``table 6.2``.
    what : str
    module : str, optional
        Of `benchmarks.papers`, that draws it.
    names : tuple of str
        What the module calls it, for its --only and in its rows; by default as the label.
    page : str, optional
        In benchmarks/results, without its ending.
    pictures : tuple of str
        In ``papers/figures``.
    reason : str, optional
        Why no module draws it, or what shows it instead.
    """

    paper: str
    label: str
    what: str
    module: str | None = None
    names: tuple[str, ...] = ()
    page: str | None = None
    pictures: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def known_as(self) -> tuple[str, ...]:
        """What the module calls it."""
        return self.names or (self.label,)

    def has(self, figure: str) -> bool:
        """Tell whether a row of the module's table is about it."""
        figure = figure.removeprefix(f"{self.paper}, ").removeprefix("report ")
        return any(_is_about(figure, name) for name in (self.label, *self.known_as))


def _is_about(figure: str, name: str) -> bool:
    if figure == name:
        return True
    return figure.startswith((f"{name} ", f"{name},")) or name in _range(figure)


def _range(figure: str) -> tuple[str, ...]:
    """Return the figures of ``4.10-4.12`` or ``6-9``; nothing of what is no range."""
    first, dash, last = figure.partition("-")
    if not dash:
        return ()
    stem, dot, low = first.rpartition(".")
    high = last.removeprefix(stem + dot)
    if not (low.isdigit() and high.isdigit()):
        return ()
    return tuple(f"{stem}{dot}{number}" for number in range(int(low), int(high) + 1))


@dataclass(frozen=True, slots=True)
class Module:
    """How a module of figures is run.

    Parameters
    ----------
    quick, full : tuple of str
        Its arguments for a run of minutes, and for the paper's size.
    only : bool
        Whether it draws some of its figures alone, by --only.
    processes : bool
        Whether it takes --processes.
    """

    quick: tuple[str, ...] = ("--quick",)
    full: tuple[str, ...] = ("--full",)
    only: bool = True
    processes: bool = True


MODULES = {
    "execution": Module(quick=(), full=(), processes=False),
    "admission": Module(),
    "overhead": Module(processes=False),
    "multistage": Module(),
    "feedback": Module(),
    "coreservation": Module(),
    "grid": Module(),
    "bag": Module(),
}


@dataclass(frozen=True, slots=True)
class _Group:
    """Entries that have a module and a page in common."""

    paper: str
    module: str
    page: str
    rows: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def entries(self) -> Iterator[Entry]:
        for label, (what, names, pictures) in self.rows.items():
            yield Entry(self.paper, label, what, self.module, names, self.page, pictures)


_FREE = " without set-up costs"


def _stream(name: str, *, also_free: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of an experiment on streams, and its pictures."""
    names = (name, f"{name}{_FREE}") if also_free else (name,)
    stems = (f"fig-{it}".replace(" ", "-") for it in names)
    return names, tuple(picture for stem in stems for picture in _both(stem))


def _both(stem: str) -> tuple[str, ...]:
    """Return the pictures of the algorithms as repaired and as printed."""
    return tuple(f"{stem}-{variant}.svg" for variant in ("repaired", "as-printed"))


_TIMES = {
    "6.12": ("the first n tasks, 512 nodes", "table 6.2"),
    "6.13": ("after n tasks, 512 nodes", "table 6.3"),
    "6.14": ("the first n tasks, 512 and 1024 nodes", "table 6.4"),
    "6.15": ("HYBRID, the first n tasks",),
    "6.16": ("HYBRID, after n tasks",),
}
"""Figures of times, what they show, and the tables of their numbers."""

_GROUPS = (
    _Group(
        MAMAT,
        "execution",
        "mamat-2011",
        {"4.5": ("execution time by number of nodes", (), ("fig-4.5.svg",))},
    ),
    _Group(
        MAMAT,
        "admission",
        "mamat-2011",
        {
            "4.6": ("optimal against equal partition", *_stream("4.6", also_free=True)),
            "4.7": ("the same, by DCRatio", *_stream("4.7", also_free=True)),
            "4.8": ("the same, by processing speed", *_stream("4.8", also_free=True)),
            "4.9": (
                "all nodes against as few as possible",
                ("4.9a", "4.9b", f"4.9a{_FREE}", f"4.9b{_FREE}"),
                (*_stream("4.9a", also_free=True)[1], *_stream("4.9b", also_free=True)[1]),
            ),
            **{
                f"4.{number}": (
                    f"FIFO, EDF and MWF, tau = {tau}",
                    *_stream("4.10-4.12", also_free=True),
                )
                for number, tau in ((10, 1), (11, 10), (12, 20))
            },
            "6.10": ("FAST-EDF-IIT against EDF-IIT-1 and -2", *_stream("6.10")),
            "6.17": ("HYBRID, few tasks waiting", *_stream("6.17")),
            "6.18": ("HYBRID, many tasks waiting", *_stream("6.18")),
        },
    ),
    _Group(
        MAMAT,
        "overhead",
        "mamat-2011",
        {
            label: (f"time of a decision: {what}", (figure,), (f"fig-{figure}.svg",))
            for figure, (what, *tables) in _TIMES.items()
            for label in (figure, *tables)
        },
    ),
    _Group(
        LIN,
        "admission",
        "lin-2005",
        {
            "4": ("MCDF against four algorithms", *_stream("R4")),
            "5": ("without admission control", *_stream("R5")),
            **{
                str(number): (f"with set-up costs of {cost}", *_stream("R6-R9"))
                for number, cost in ((6, 5), (7, 10), (8, 15), (9, 20))
            },
            "10": ("MCDF, by tau", *_stream("R10")),
        },
    ),
    _Group(
        MAMAT,
        "multistage",
        "mamat-2011",
        {
            "5.13": ("reject ratio, reserved at once", (), _both("fig-5.13-5.14")),
            "5.14": ("utilization, reserved at once", (), _both("fig-5.13-5.14")),
            "5.15": ("reject ratio, one interval before", (), _both("fig-5.15-5.16")),
            "5.16": ("utilization, one interval before", (), _both("fig-5.15-5.16")),
            "5.17": ("by advance, 30 % reserved", (), _both("fig-5.17-5.18")),
            "5.18": ("by advance, 50 % reserved", (), _both("fig-5.17-5.18")),
        },
    ),
    _Group(
        MAMAT,
        "feedback",
        "mamat-2011",
        {
            "7.2": ("misses as the load grows", (), ("fig-7.2.svg",)),
            "7.3": ("rejections as the load grows", (), ("fig-7.3.svg",)),
            "7.4": ("utilization as the load grows", (), ("fig-7.4.svg",)),
            "7.5": ("misses as nodes fail", (), ("fig-7.5.svg",)),
        },
    ),
    _Group(
        MIN,
        "coreservation",
        "min-2001",
        {
            label: (what, (), _both(f"fig-min-{label}"))
            if label != "5.9"
            else (
                what,
                ("5.9", "5.9 at once"),
                (*_both("fig-min-5.9"), *_both("fig-min-5.9-at-once")),
            )
            for label, what in {
                "4.3": "rejections by requests",
                "4.4": "rejections by machines",
                "4.5": "rejections by duration",
                "4.6": "reserved by requested CPU",
                "4.7": "rejected priorities by rejections",
                "5.9": "benefit and rejections by requests",
                "5.10": "the same by machines",
                "5.11": "the same by duration",
                "5.12": "the same by share of floating requests",
                "5.13": "the same by scope of priority",
            }.items()
        },
    ),
    _Group(
        LIU,
        "bag",
        "liu-2007",
        {
            label: (what, (), (f"liu-fig-{label}.svg",))
            for label, what in {
                "7": "critical tasks in time, against EDF, Min-min and Sufferage",
                "8": "all tasks in time, against the same",
                "9": "critical tasks in time, with and without Shuffle",
                "10": "all tasks in time, with and without Shuffle",
            }.items()
        },
    ),
    _Group(
        CHEN,
        "grid",
        "chen-2001",
        {
            label: (what, (), (f"chen-fig-{label}.svg",))
            for label, what in {
                "7": "performance by number of tasks",
                "8": "traffic by number of tasks",
                "9": "performance by interval",
                "10": "traffic by interval",
                "11": "performance by failure rate",
                "12": "traffic by failure rate",
                "13": "one LAN against many",
            }.items()
        },
    ),
)

_OTHERS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (MAMAT, ("table 1.1", "table 6.1"), "sizes of OSG clusters", "facts about the world"),
    (
        MAMAT,
        ("1.1", "1.2", "6.1", "6.2", "6.11"),
        "status of a cluster over a day",
        "measured there; its log is not published",
    ),
    (MAMAT, ("4.1", "5.1", "5.2", "5.12", "6.3", "6.4", "7.1"), "examples, architecture", DIAGRAM),
    (MAMAT, ("4.2", "4.3"), "time diagrams of partitions", DIAGRAM),
    (MAMAT, ("4.4",), "where n_min lies", DIAGRAM),
    (
        MAMAT,
        (*(f"5.{number}" for number in range(3, 12)), "5.19"),
        "scenarios of stages, and of the advance factor",
        DIAGRAM,
    ),
    (
        MAMAT,
        tuple(f"6.{number}" for number in range(5, 10)),
        "scenarios of node assignment",
        DIAGRAM,
    ),
    (LIN, ("1", "2", "3"), "topology, timing diagrams", DIAGRAM),
    (CHEN, ("1",), "a task graph", "an example; it has no deadline and no machines"),
    (
        CHEN,
        ("table 1",),
        "levels of the graph of figure 1",
        "contradicts itself: N6 lies on a path of 14 + 22 = 36, the longest to an exit is 33",
    ),
    (CHEN, ("2", "3", "4", "5"), "pseudo-code, subtask movement, program layout", LISTING),
    (CHEN, ("6",), "a topology made by Tiers 1.1", "the topology itself is not printed"),
    (
        CHEN,
        ("table 2", "table 3", "table 4", "table 5", "table 6"),
        "parameters of the simulations",
        "what the module takes",
    ),
    (
        MIN,
        ("1.1",),
        "shapes of benefit functions",
        "dlopt.problems.coreservation.benefit_functions",
    ),
    (MIN, ("3.1", "3.2"), "architecture, a time slot table", DIAGRAM),
    (MIN, ("3.3", "4.1", "4.2"), "the time slot table manager, RSPB", LISTING),
    (MIN, tuple(f"5.{number}" for number in range(1, 9)), "Co-RSPB, Co-RSBF, Co-RSBFR", LISTING),
    (LIU, ("1",), "grid model", DIAGRAM),
    (LIU, ("2", "3", "4", "6"), "GDS, Schedule, Shuffle, Dispatch", LISTING),
    (
        LIU,
        ("5",),
        "an example of a schedule",
        "instances/bag/figure-5.json, drawn by make demo",
    ),
)


def entries() -> Iterator[Entry]:
    """Yield all figures and tables, paper by paper."""
    drawn = [entry for group in _GROUPS for entry in group.entries()]
    others = [
        Entry(paper, label, what, reason=reason)
        for paper, labels, what, reason in _OTHERS
        for label in labels
    ]
    order = list(PAPERS.values())
    yield from sorted(
        [*drawn, *others], key=lambda entry: (order.index(entry.paper), _place(entry))
    )


def _place(entry: Entry) -> tuple[bool, tuple[int, ...]]:
    """Return where a figure stands among those of its paper: tables last."""
    number = entry.label.removeprefix("table ")
    return number != entry.label, tuple(int(part) for part in number.split("."))
