"""How certificates of divisible loads divide time and nodes, in comments that checkers read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from dlopt.problems.certificate_units import stated_number

_GROUPS = re.compile(r"\d{1,8}( \d{1,8})*", re.ASCII)


def stated_numbers(remarks: Mapping[str, str], key: str) -> list[Fraction]:
    """Return the numbers that a remark lists; none if one of its words is no number.

    Examples
    --------
    >>> stated_numbers({"instants": "0 1/2"}, "instants"), stated_numbers({"a": "0 b"}, "a")
    ([Fraction(0, 1), Fraction(1, 2)], [])
    """
    found = [stated_number({key: word}, key) for word in remarks.get(key, "").split()]
    numbers = [number for number in found if number is not None]
    return numbers if len(numbers) == len(found) else []


def stated_groups(remarks: Mapping[str, str], nodes: int) -> list[list[int]] | None:
    """Return the nodes of each group, of which a remark has the number of each node's.

    None if it does not, or if there is a number without nodes below another one.

    Examples
    --------
    >>> stated_groups({"groups": "0 1 0"}, 3), stated_groups({"groups": "0 2"}, 2)
    ([[0, 2], [1]], None)
    """
    text = remarks.get("groups", "")
    if not _GROUPS.fullmatch(text) or text.count(" ") + 1 != nodes:
        return None
    groups = defaultdict[int, list[int]](list)
    for node, number in enumerate(text.split()):
        groups[int(number)].append(node)
    if groups.keys() != set(range(len(groups))):
        return None
    return [groups[number] for number in range(len(groups))]
