"""How the result of a search for counterexamples looks."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.presentation.layout import html_fields, labelled_lines
from dlopt.presentation.results import html_of as result_html
from dlopt.presentation.wording import amount, counted, percentage
from dlopt.verify.found_counterexamples import SHIPPED, Finding, SearchResult

MAX_TEXTS = 3
"""Violations that a summary names; `Finding.texts` has them all."""


def text_of(search: SearchResult | Finding) -> str:
    """Return what was found, and after how many instances.

    Examples
    --------
    >>> print(text_of(SearchResult(None, tried=200, not_applicable=0, seconds=0.5)))
    found: nothing
    tried: 200 instances in 0.5 s
    """
    return labelled_lines(_fields(search))


def html_of(search: SearchResult | Finding) -> str:
    """Return the same as HTML, with the plan of the method on the instance that was found."""
    found = search.finding if isinstance(search, SearchResult) else search
    plan = "" if found is None or found.result is None else result_html(found.result)
    return html_fields(_fields(search)) + plan


def _fields(search: SearchResult | Finding) -> Iterator[tuple[str, str]]:
    if isinstance(search, Finding):
        yield from _finding_fields(search)
        return
    if search.finding is None:
        yield "found", "nothing"
    else:
        yield from _finding_fields(search.finding)
    tried = effort_text(search)
    without_phase = search.phase in (None, SHIPPED)
    yield "tried", tried if without_phase else f"{tried}, found by {search.phase}"
    if search.not_applicable:
        skipped = counted(search.not_applicable, "instance")
        yield "skipped", f"{skipped}: {search.skip_reason}"


def effort_text(search: SearchResult) -> str:
    """Return how many instances were tried, and in which time.

    Examples
    --------
    >>> effort_text(SearchResult(None, tried=200, not_applicable=0, seconds=0.5, shipped=12))
    '200 instances and 12 shipped ones in 0.5 s'
    """
    tried = counted(search.tried, "instance")
    if search.shipped and not search.tried:
        tried = counted(search.shipped, "shipped instance")
    elif search.shipped:
        tried += f" and {counted(search.shipped, 'shipped one')}"
    return f"{tried} in {search.seconds:.1f} s"


def size_words(found: Finding) -> tuple[str, ...]:
    """Return how many tasks, requests and so on the instance of a finding has, and machines.

    Examples
    --------
    >>> from dlopt.verify import falsify
    >>> size_words(falsify("bag", "gds:literal-duplicate").finding)
    ('1 task', '2 machines')
    """
    instance, (jobs, machines) = found.instance, found.size
    if found.stem in ("dag", "bag"):
        return counted(jobs, "task"), counted(machines, "machine")
    if found.stem == "coreservation":
        return counted(len(instance.requests), "request"), counted(machines, "machine")
    parts = [] if found.stem == "iit" else [counted(len(instance.tasks), "task")]
    if found.stem == "multistage" and instance.reservations:
        parts = parts[: len(instance.tasks)]  # none is no part of the size
        parts.append(counted(len(instance.reservations), "reservation"))
    return *parts, counted(machines, "node")


def _finding_fields(found: Finding) -> Iterator[tuple[str, str]]:
    what = "the largest gap" if found.claim == "gap" else f"a violation of the claim {found.claim}"
    yield "found", f"{what} of {found.method} ({found.stem})"
    yield "kind", found.kind
    for text in found.texts[:MAX_TEXTS]:
        yield "violation", text
    if found.gap is not None:
        yield "gap to optimum", percentage(found.gap)
    if found.result is not None and found.result.value is not None:
        yield found.goal.name, amount(found.result.value)
    if found.optimum is not None and found.optimum.value is not None:
        yield "optimum", amount(found.optimum.value)
    yield "instance", ", ".join(size_words(found))
