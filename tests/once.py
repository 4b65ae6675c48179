"""`dlopt.solve`, asked once for each question.

A property holds many plans of one instance against the same bounds: a question that was asked a
moment ago is answered from memory. Questions are compared as texts, since an instance in floats
equals the same in whole numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import astuple, is_dataclass
from typing import Any

import dlopt
from dlopt import Result

_KEPT = 64
"""Answers that are remembered: more than a property asks of one instance."""
_answers: OrderedDict[str, Result[Any]] = OrderedDict()


def solve(instance: Any, method: str = "exact", **options: Any) -> Result[Any]:
    """Return what `dlopt.solve` answers, from memory if it was asked a moment ago.

    Examples
    --------
    >>> from dlopt.problems.iit import Cluster, Instance
    >>> whole, floats = (Instance(Cluster(1, tau=1, chi=2), (0,), load=n) for n in (3, 3.0))
    >>> solve(whole) is solve(whole), solve(floats) is solve(whole)
    (True, False)
    """
    question = repr((_complete(instance), method, _complete(sorted(options.items()))))
    if question not in _answers:
        _answers[question] = dlopt.solve(instance, method, **options)
        if len(_answers) > _KEPT:
            _answers.popitem(last=False)
    return _answers[question]


def _complete(thing: Any) -> Any:
    """Return a value with all entries of the records in it: their own text leaves some out."""
    if isinstance(thing, list | tuple):
        return [_complete(entry) for entry in thing]
    return (type(thing), astuple(thing)) if is_dataclass(thing) else thing
