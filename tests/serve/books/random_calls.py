"""Calls of all verbs at random, as requests have them, and plain engines that they are compared to.

A plain engine is called directly, and only with what changed the book of the service: whatever is
asked or refused must leave no trace. Where the service saves a book, the plain engine is saved.
"""

import random
from fractions import Fraction

from dlopt import Admission, CoReservation, MultiStage
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Request
from dlopt.problems.multistage import Reservation
from tests.serve.books.services import as_json

READS = ("ask", "offer", "why", "state", "snapshot", "plan")
_VERBS = (
    *("submit",) * 10,
    *("advance",) * 3,
    *("hold", "hold", "confirm", "release", "cancel", "change", "finished", "resources"),
    *("archive", *READS),
)
ALGORITHMS = {
    "admission": (
        "edf-iit-2",
        "fast-edf-iit",
        "edf-opr-mn",
        "edf-iit-1",
        "fifo-opr-an",
        "mwf-opr-mn",
        "mcdf",
        "hybrid",
    ),
    "multistage": ("multi-stage", "priced-multi-stage"),
    "coreservation": ("co-rspb", "co-rsbf", "co-rsbfr", "rb"),
}


def definition_of(problem, algorithm, exact, nodes):
    """Return a book as a request has it."""
    one = 1 if exact else 1.0
    data = {"problem": problem, "algorithm": algorithm, "exact_numbers": exact}
    if problem == "coreservation":
        machines = [{"id": f"m{k}", "capacity": one * (40 + 10 * k)} for k in range(nodes)]
        return data | {"machines": machines}
    return data | {"cluster": {"nodes": nodes, "tau": one, "chi": one * 3}}


class PlainBook:
    """An engine that is called directly."""

    def __init__(self, definition):
        self.problem, exact = definition["problem"], definition["exact_numbers"]
        name = definition["algorithm"]
        if self.problem == "coreservation":
            machines = [Machine(**machine) for machine in definition["machines"]]
            self.engine = CoReservation(machines, name, exact_numbers=exact)
        else:
            kind = Admission if self.problem == "admission" else MultiStage
            self.engine = kind(Cluster(**definition["cluster"]), name, exact_numbers=exact)
        self._data = None

    def apply(self, verb, data):
        """Do what a request did that changed the book."""
        engine, kind = self.engine, data.get("kind")
        of_kind = {"kind": kind} if self.problem == "multistage" else {}
        if verb in ("submit", "hold"):
            if "task" in data:
                return engine.submit(Task.from_data(data["task"]))
            if "reservation" in data:
                return engine.reserve(Reservation.from_data(data["reservation"]))
            batch = data.get("requests") or [data["request"]]
            return engine.submit([Request.from_data(one) for one in batch])
        if verb == "change":
            ((name, content),) = data.items()
            record = {"task": Task, "reservation": Reservation, "request": Request}[name]
            return engine.change(record.from_data(content))
        if verb in ("cancel", "release", "expire"):
            return engine.cancel(data["id"], **of_kind)
        if verb == "finished":
            return engine.finished(data["id"], _number(data["at"]), **of_kind)
        if verb == "resources":
            changes = dict(data)
            if self.problem == "coreservation":
                changes["add"] = [Machine.from_data(one) for one in data["add"]]
            return engine.resources(**changes)
        if verb == "advance":
            return engine.advance(_number(data["now"]))
        if verb == "archive":
            return engine.archive()
        assert verb == "confirm"
        return None


def _number(value):
    return Fraction(value) if isinstance(value, str) else value


class RandomCalls:
    """Chooses calls by what is in a plain book."""

    def __init__(self, seed, plain, exact):
        self._draw, self._plain, self._exact = random.Random(seed), plain, exact
        self._count, self._contents = 0, {}

    def next(self):
        """Return a verb with arguments."""
        verb = self._draw.choice(_VERBS)
        return verb, getattr(self, f"_{verb}", self._nothing)()

    def _nothing(self):
        return {}

    def _amount(self, most):
        if self._exact:
            return Fraction(self._draw.randint(1, 12 * most), 12)
        return self._draw.random() * most + 0.01

    def _instant(self, most):
        return as_json(self._plain.engine.now + self._amount(most))

    def _identity(self):
        self._count += 1
        known = list(self._contents)
        if known and self._draw.random() < 0.1:
            return self._draw.choice(known)[1]
        return f"n{self._count}"

    def _submit(self):
        if self._contents and self._draw.random() < 0.1:
            kind, name = self._draw.choice(list(self._contents))
            return {kind: self._contents[kind, name]}  # once more
        kind = {"admission": "task", "coreservation": "request"}.get(self._plain.problem)
        kind = kind or self._draw.choice(("task", "reservation"))
        content = getattr(self, f"_new_{kind}")()
        if kind == "request" and self._draw.random() < 0.2:
            return {"requests": [content, self._new_request()]}
        self._contents[kind, content["id"]] = content
        return {kind: content}

    def _new_task(self):
        return {
            "id": self._identity(),
            "arrival": self._instant(1),
            "load": as_json(self._amount(4)),
            "deadline": as_json(self._amount(24)),
        }

    def _new_reservation(self):
        start = self._plain.engine.now + 1 + self._amount(8)
        return {
            "id": self._identity(),
            "arrival": as_json(self._plain.engine.now),
            "start": as_json(start),
            "end": as_json(start + self._amount(6)),
            "nodes": self._draw.randint(1, 2),
        }

    def _new_request(self):
        start = self._plain.engine.now + 2 + self._amount(4)
        cpu = self._amount(50)
        parts = [{"cpu": as_json(cpu), "cpu_min": as_json(cpu / 2)} for _ in range(2)]
        return {
            "id": self._identity(),
            "arrival": self._instant(1),
            "start": as_json(start),
            "end": as_json(start + self._amount(8)),
            "priority": self._draw.randint(1, 3),
            "parts": parts[: self._draw.randint(1, 2)],
        }

    def _one(self):
        data = self._submit()
        return {"request": data["requests"][0]} if "requests" in data else data

    def _ask(self):
        return self._submit()

    def _offer(self):
        return self._one() | {"k": self._draw.randint(1, 3)}

    def _why(self):
        return self._one()

    def _hold(self):
        return self._one() | {"ttl_s": self._draw.randint(1, 30)}

    def _promised(self):
        if not self._contents:
            return {"id": "none"}
        kind, name = self._draw.choice(list(self._contents)[-12:])
        return {"id": name} | ({"kind": kind} if self._plain.problem == "multistage" else {})

    _confirm = _release = _cancel = _promised

    def _change(self):
        if not self._contents:
            return self._one()
        kind, name = self._draw.choice(list(self._contents)[-12:])
        content = getattr(self, f"_new_{kind}")()
        return {kind: content | {"id": name, "arrival": self._contents[kind, name]["arrival"]}}

    def _finished(self):
        return self._promised() | {"at": self._instant(3)}

    def _resources(self):
        change = self._draw.choice(("fail", "fail", "remove", "repair", "repair", "add"))
        number = self._draw.randrange(5)
        if self._plain.problem != "coreservation":
            return {"add": 1} if change == "add" else {change: [number]}
        self._count += 1
        added = [{"id": f"new{self._count}", "capacity": 50}] if change == "add" else []
        return {"add": added} | ({} if added else {change: [number]})

    def _advance(self):
        return {"now": self._instant(4)}
