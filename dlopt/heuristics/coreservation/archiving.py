"""What is over is handed out, and forgotten."""

from __future__ import annotations

from dlopt.arithmetic import simplest
from dlopt.books import Archive
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry
from dlopt.problems.coreservation.data import Decision, Share


def archived(state: EngineState) -> Archive[Decision, Share]:
    """Remove what is over by now from an engine, and return it."""
    now = state.now
    over = [entry for entry in state.entries.values() if _is_over(state, entry)]
    shares = tuple(
        Share(entry.request.id, part, span.machine, span.amount)
        for entry in over
        if entry.decision.accepted
        for part, span in state.ledger.spans(entry.request.id).items()
    )
    for entry in over:
        del state.entries[entry.request.id]
        state.ledger.restart(entry.request.id)
    for name in [name for name, one in state.withdrawals.items() if one.end <= now]:
        del state.withdrawals[name]
    return Archive(simplest(now), tuple(entry.decision for entry in over), shares)


def _is_over(state: EngineState, entry: Entry) -> bool:
    if entry.decision.accepted:
        return bool(entry.request.end <= state.now)
    return bool(entry.decision.at < state.now)
