"""Instances of task graphs and bags whose numbers are of all kinds, and plans pushed to the limit.

An instance in exact numbers is stated anew: some numbers as floats, as short decimals or as floats
that are no round ones, and its dates on clocks that started long ago.
"""

import dataclasses
from fractions import Fraction

from hypothesis import strategies as st

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.problems.validated_record import HEADER_FIELDS, Record

EPOCHS = (0, 10**12, 1_700_000_000)
DATES = {"arrival", "absolute_deadline", "release", "ready"}
NO_NUMBERS = {"source", "target", "lan", "site", "between", "one_lan", "ccr_thresholds"}
NO_NUMBERS |= {*HEADER_FIELDS}
STYLES = ("exact", "float", "decimal", "noise")

styles = st.sampled_from([*STYLES, "mixed", "mixed"])


def restated(draw, record, style=None, epoch=None):
    """Return a record with its numbers in a style, and its dates since an epoch."""
    style = draw(styles) if style is None else style
    epoch = draw(st.sampled_from(EPOCHS)) if epoch is None else epoch
    return _record(draw, record, style, epoch)


def _record(draw, record, style, epoch):
    changed = {}
    for item in dataclasses.fields(record):
        given = item.name == "power" and getattr(record, item.name) == 1  # as by default
        if item.name not in NO_NUMBERS and not given:
            since = epoch if item.name in DATES else 0
            changed[item.name] = _value(draw, getattr(record, item.name), style, since, epoch)
    due, arrival = changed.get("absolute_deadline"), changed.get("arrival", 0)
    if due is not None and exact(due) < exact(arrival):
        changed["absolute_deadline"] = arrival
    return dataclasses.replace(record, **changed)


def _value(draw, value, style, since, epoch):
    if isinstance(value, Record):
        return _record(draw, value, style, epoch)
    if isinstance(value, tuple):
        return tuple(_value(draw, entry, style, since, epoch) for entry in value)
    if isinstance(value, bool | str) or value is None:
        return value
    return _number(draw, value, style, since)


def _number(draw, number, style, since):
    if style == "mixed":
        style = draw(st.sampled_from(STYLES))
    if style == "exact":
        return number + since
    if style == "decimal":
        return round(float(number), draw(st.integers(1, 3))) + since
    if style == "noise" and number:
        return float(number) * draw(st.floats(0.5, 2)) + since
    return float(number + since)


def shortest_of(spans):
    """Return the shortest span that is not 0, or 0."""
    return min((span for span in spans if span), default=Fraction(0))


def pushed(starts, shortest, how, share):
    """Return by how much each of some starts, in order, is moved to an earlier instant.

    Parameters
    ----------
    starts : list of Fraction
    shortest : Fraction
        What takes least.
    how : {"all", "squeezed", "last"}
        All by what an instant may be off, each by as much more as its place, or the last only.
    share : Fraction
        Of what an instant may be off.
    """
    off = [share * (exact(FLOATING) * shortest + ROUNDING * abs(start)) for start in starts]
    if how == "last":
        return [Fraction(0)] * (len(off) - 1) + off[-1:]
    return [by * (place if how == "squeezed" else 1) for place, by in enumerate(off)]


ways = st.tuples(
    st.sampled_from(["all", "squeezed", "last"]),
    st.sampled_from([Fraction(1, 3), Fraction(99, 100), Fraction(1)]),
    st.booleans(),
)
"""How starts are pushed, by which share, and whether they are floats then."""
