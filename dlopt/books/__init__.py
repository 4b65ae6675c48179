"""Books of promises: what the online engines have in common beyond saying yes or no.

A *book* is an engine that another planner lives with: it decides on what is submitted, can be
asked without being changed, offers what is possible instead of a rejection, takes back and changes
what it promised, learns of failures and of ends that differ from the plan, and can be saved.
`Book` lists the verbs; `dlopt.Admission`, `dlopt.MultiStage` and `dlopt.CoReservation` have them.
"""

from __future__ import annotations

from dlopt.books.broken_promises import Selection, fewest_broken
from dlopt.books.conflicts import irreducible_conflict
from dlopt.books.expiry_queue import ExpiryQueue
from dlopt.books.protocol import Book
from dlopt.books.verb_results import Archive, Conflict, ConflictPart, Consequences, Offer

__all__ = [
    "Archive",
    "Book",
    "Conflict",
    "ConflictPart",
    "Consequences",
    "ExpiryQueue",
    "Offer",
    "Selection",
    "fewest_broken",
    "irreducible_conflict",
]
