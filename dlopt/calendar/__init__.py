"""When is so much free, for so long, on so many machines at once: one calendar for all who ask.

`ResourceCalendar` keeps the capacities of machines, which may change over time, and spans that are
allocated; `ProfileTree` is the availability profile of a single machine, and
`dlopt.calendar.compiled_profile.CompiledProfile` its compiled twin (extra ``fast``).

The package stands next to `problems`, below `heuristics`: it knows numbers and errors, and no
problem, so that engines of heuristics, books, generators and simulators may all build on it. It is
imported by no checker, for a checker computes nothing as a method does.

Examples
--------
>>> calendar = ResourceCalendar([1, 1])
>>> _ = calendar.add_span(0, 0, 3, 1), calendar.add_span(1, 2, 6, 1)
>>> calendar.earliest_start(0, 1, 4), calendar.earliest_common_start([1, 1], 4)
(3, CommonStart(start=6, machines=(0, 1)))
"""

from dlopt.calendar.calendar_questions import CommonStart
from dlopt.calendar.profile_tree import ProfileTree
from dlopt.calendar.resource_calendar import ResourceCalendar
from dlopt.calendar.span_registry import Span, SpanContent

__all__ = ["CommonStart", "ProfileTree", "ResourceCalendar", "Span", "SpanContent"]
