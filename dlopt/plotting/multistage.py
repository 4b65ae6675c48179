"""The Gantt chart of divisible loads around reservations.

Reservations hold nodes and channel: their I/O and the rest of them are told apart, and a line
stands where the channel is free again, which is where a stage ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.plotting.admission import MOST_WINDOWS, Drawing
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.looks import FAINT, Bar, Look, Mark, Row, clean
from dlopt.problems.multistage import Instance, Solution, objective
from dlopt.result import Violation

IO = Look(
    "reserved-io", "reserved, with the channel", ("#8C8C8C",), "#5A5A5A", ink="#FFFFFF", outline=0.5
)
HELD = Look("reserved", "reserved", ("#C9C9C9",), "#9A9A9A", outline=0.5)
REFUSED = Look("refused", "rejected", ("#FFFFFF",), "#C9A8A0", "/////", ink=FAINT, outline=0.5)
MOST_STAGES = 12
"""With more reservations than this, no lines are drawn where stages end."""


def draw(
    instance: Instance,
    solution: object,
    *,
    title: str | None = None,
    note: str = "",
    violations: Sequence[Violation] = (),
) -> Figure:
    """Draw the plan of tasks around reservations.

    Parameters
    ----------
    instance : Instance
    solution : Solution
        It need not be valid.
    title, note, violations
        As for streams of tasks.

    Raises
    ------
    NotApplicableError
        If `solution` is no plan for this problem.
    """
    if not isinstance(solution, Solution):
        raise NotApplicableError(f"a {type(solution).__name__} is no plan of {instance.problem}")
    return _Drawing(instance, solution).draw(title, note, violations)


class _Drawing(Drawing):
    """One plan with its reservations."""

    def __init__(self, instance: Instance, solution: Solution) -> None:
        granted = {grant.reservation: grant for grant in solution.grants if grant.accepted}
        self.wanted = instance.reservations
        self.rows = self.wanted if len(self.wanted) <= MOST_WINDOWS else ()
        self.held = [(one, granted[one.id].nodes) for one in self.wanted if one.id in granted]
        self.granted = set(granted)
        super().__init__(instance, solution)

    def more_rows(self) -> list[Row]:
        """Return a row a reservation."""
        return [Row(clean(one.id, 16), faint=one.id not in self.granted) for one in self.rows]

    def more_instants(self) -> list[float]:
        """Return the ends of reservations."""
        return [float(instant) for one in self.wanted for instant in (one.start, one.end)]

    def more_words(self) -> list[str]:
        """Return how many reservations were accepted."""
        wanted = len(self.wanted)
        return [f"{len(self.held):,} of {wanted:,} reservation{'s' * (wanted != 1)}"] * bool(wanted)

    def worth(self, name: str) -> Number:
        """Return what the plan is worth."""
        return objective(self.instance, self.solution, name)

    def draw_more(self, chart: Gantt) -> None:
        """Draw the reservations, and where they end a stage."""
        chart.bars(REFUSED, self._windows_of(granted=False))
        chart.bars(IO, self._blocks(io=True))
        chart.bars(HELD, self._blocks(io=False))
        ends = sorted({float(one.channel_end) for one, _ in self.held})
        for end in ends if len(ends) <= MOST_STAGES else ():
            chart.mark(Mark(end, "", FAINT, dashed=True))

    def _windows_of(self, granted: bool) -> Iterator[Bar]:
        first = len(self.windows)
        for row, one in enumerate(self.rows, start=first):
            if (one.id in self.granted) is granted:
                words = f"{one.count} node{'s' * (one.count > 1)}"
                yield Bar(row, float(one.start), float(one.end), words)

    def _blocks(self, io: bool) -> Iterator[Bar]:
        """Yield the part of each reservation with the channel, or the part without."""
        row_of = {one.id: row for row, one in enumerate(self.rows, start=len(self.windows))}
        for one, nodes in self.held:
            start, free, end = map(float, (one.start, one.channel_end, one.end))
            begin, stop = (start, free) if io else (free, end)
            if begin >= stop:
                continue
            rows = [self.row[node] for node in nodes if node in self.row]
            if one.id in row_of:
                rows.append(row_of[one.id])
            if io:
                rows.append(self.channel)
            for row in rows:
                yield Bar(row, begin, stop, clean(one.id, 8))
