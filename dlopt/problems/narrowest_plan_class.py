"""The narrowest plan class to which a plan belongs."""

from __future__ import annotations

from collections import Counter

from dlopt.result import PlanClass


def class_of_plan(solution: object) -> tuple[PlanClass, int | None]:
    """Return the narrowest plan class of a plan, and its number of chunks in the class ``k``.

    Chunks are counted for each node, or for each node and task. The stages in which
    they are sent are not examined: the answer is never ``per-stage``.

    Parameters
    ----------
    solution : Solution
        Of any problem; a plan of a problem without chunks is of the class ``any``.

    Examples
    --------
    >>> from dlopt.problems.iit import Chunk, Solution
    >>> chunk = Chunk(0, 1, 0, 1, 1, 2)
    >>> class_of_plan(Solution((chunk,))), class_of_plan(Solution((chunk, chunk)))
    (('single', None), ('k', 2))
    """
    chunks = getattr(solution, "chunks", None)
    if chunks is None:
        return "any", None
    counts = Counter((chunk.node, getattr(chunk, "task", None)) for chunk in chunks)
    most = max(counts.values(), default=1)
    return ("single", None) if most == 1 else ("k", most)
