"""What concurrent clients of one book saw, and whether one engine could have answered so in a row.

The order is given: it is that of the log. A history is linearizable in it if every acknowledged
change is in the log once, with the answer that its client got; if what ended before something else
began stands before it; and if an engine that is called directly, in the order of the log, answers
every change, every question and every refusal as the service did.
"""

from __future__ import annotations

import pickle
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlopt.errors import DloptError
from dlopt.problems.admission import Task
from tests.serve.books.random_calls import PlainBook

Data = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class SeenCall:
    """A call as its client saw it.

    Parameters
    ----------
    key : str
        Its idempotency key.
    verb : str
    arguments : dict
    begun, ended : float
        When it was sent and answered. A call without an answer has not ended: it is infinite.
    status : int
        0 without an answer.
    version : int or None
        Of the book, as the answer has it.
    answer : dict or None
    """

    key: str
    verb: str
    arguments: Data
    begun: float
    ended: float
    status: int = 0
    version: int | None = None
    answer: Data | None = None

    @property
    def is_change(self) -> bool:
        """Whether it changes the book."""
        return self.verb != "ask"


@dataclass
class _Replay:
    """An engine that is called directly, and the calls of which a version must explain the answer.

    Parameters
    ----------
    book : PlainBook
    questions : dict
        Those answered at each version.
    refusals : dict
        The refused calls, with the versions that the book may have had then.
    """

    book: PlainBook
    questions: dict[int, list[SeenCall]] = field(default_factory=dict)
    refusals: dict[SeenCall, range] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def compare(self, version: int) -> None:
        """Compare what was asked at a version, and look for refusals that it explains."""
        for call in self.questions.get(version, ()):
            try:
                decision = self.book.engine.ask(Task.from_data(call.arguments["task"])).to_data()
            except DloptError as error:
                decision = str(error)
            if decision != _decision(call.answer):
                self.faults.append(f"{call.key}: the engine answers {decision} at {version}")
        explained = [
            call
            for call, versions in self.refusals.items()
            if version in versions and self._refuses(call)
        ]
        for call in explained:
            del self.refusals[call]

    def _refuses(self, call: SeenCall) -> bool:
        copy = pickle.loads(pickle.dumps(self.book))
        try:
            if call.is_change:
                copy.apply(call.verb, call.arguments)
            else:
                copy.engine.ask(Task.from_data(call.arguments["task"]))
        except DloptError:
            return True
        return False


def history_faults(
    definition: Data, calls: Sequence[SeenCall], records: Sequence[Data]
) -> list[str]:
    """Return why a history is not linearizable in the order of a log; nothing if it is.

    Parameters
    ----------
    definition : dict
        Of the book, which has the clock of its callers.
    calls : sequence of SeenCall
        All calls of all clients.
    records : sequence of dict
        The whole log, as the service shows it.
    """
    faults = [
        f"record {number} has the sequence number {record['sequence']}"
        for number, record in enumerate(records, 1)
        if record["sequence"] != number
    ]
    sent = {call.key: call for call in calls}
    logged = {record["idempotency_key"]: record for record in records}
    if len(logged) < len(records):
        faults.append("a call is in the log twice")
    faults += [f"{key} is in the log, and nobody sent it" for key in logged.keys() - sent.keys()]
    faults += [fault for call in calls for fault in _acknowledgement_faults(call, logged)]
    places = _places(calls, logged)
    faults += _order_faults(places)
    faults += _answer_faults(definition, calls, records, places)
    return faults


def _acknowledgement_faults(call: SeenCall, logged: Mapping[str, Data]) -> Iterable[str]:
    record = logged.get(call.key)
    if record is None:
        if call.is_change and call.status == 200:
            yield f"{call.key} was acknowledged, and is lost"
    elif not call.is_change or call.status not in (0, 200):
        yield f"{call.key} was answered with {call.status}, and is in the log"
    elif record["verb"] != call.verb or record["arguments"] != call.arguments:
        yield f"{call.key} is in the log as another call"
    elif call.status and (record["answer"], record["sequence"]) != (call.answer, call.version):
        yield f"{call.key} was answered otherwise than the log says"


def _places(calls: Iterable[SeenCall], logged: Mapping[str, Data]) -> dict[SeenCall, int]:
    """Return the version after each change, and at each answered question."""
    places = {}
    for call in calls:
        if call.key in logged:
            places[call] = logged[call.key]["sequence"]
        elif call.version is not None:
            places[call] = call.version
    return places


class SeenOrder:
    """What is known of the version by what was begun and answered before and after an instant."""

    def __init__(self, places: Mapping[SeenCall, int]) -> None:
        ended = sorted((call.ended, place) for call, place in places.items())
        begun = sorted((call.begun, place) for call, place in places.items() if call.is_change)
        self._ends, self._starts = [at for at, _ in ended], [at for at, _ in begun]
        self._least, self._most = [0], [len(places) + 1]
        for _, place in ended:
            self._least.append(max(self._least[-1], place))
        for _, place in reversed(begun):
            self._most.append(min(self._most[-1], place))
        self._most.reverse()

    def least(self, instant: float) -> int:
        """Return the latest version that was seen by an answer before an instant."""
        return self._least[bisect_left(self._ends, instant)]

    def most(self, instant: float) -> int:
        """Return the version that the book had at most, before changes begun after an instant."""
        return self._most[bisect_right(self._starts, instant)] - 1


def _order_faults(places: Mapping[SeenCall, int]) -> Iterable[str]:
    order = SeenOrder(places)
    for call, place in places.items():
        least = order.least(call.begun) + call.is_change
        if not least <= place <= order.most(call.ended):
            yield (
                f"{call.key} is at {place}, and must be within {least} to {order.most(call.ended)}"
            )


def _answer_faults(
    definition: Data,
    calls: Iterable[SeenCall],
    records: Sequence[Data],
    places: Mapping[SeenCall, int],
) -> list[str]:
    order = SeenOrder(places)
    replay = _Replay(PlainBook(definition))
    for call in calls:
        if call.status >= 400:
            versions = range(order.least(call.begun), order.most(call.ended) + 1)
            replay.refusals[call] = versions
        elif call.status == 200 and not call.is_change:
            replay.questions.setdefault(places[call], []).append(call)
    replay.compare(0)
    for number, record in enumerate(records, 1):
        try:
            done = replay.book.apply(record["verb"], record["arguments"])
        except DloptError as error:
            replay.faults.append(f"the engine refuses record {number}: {error}")
            break
        if record["verb"] == "submit" and done.to_data() != _decision(record["answer"]):
            replay.faults.append(f"the engine answers {done} to record {number}")
        replay.compare(number)
    replay.faults += [f"{call.key} was refused for no reason" for call in replay.refusals]
    return replay.faults


def _decision(answer: Data | None) -> Any:
    assert answer is not None
    return answer["decision"]
