"""Events for readers who come early, late, and again."""

from __future__ import annotations

import asyncio

from dlopt.serve.jobs.event_history import MAX_EVENTS, Event, EventHistory
from dlopt.service_api.job_records import JobEventName
from tests.serve.jobs.services import run


def add(history: EventHistory, name: JobEventName, **data: object) -> None:
    history.add(history.next(name, data))


async def read(history: EventHistory, after: int = 0) -> list[Event]:
    return [event async for event in history.follow(after)]


def test_every_reader_gets_all_from_where_it_was() -> None:
    async def test() -> None:
        history = EventHistory()
        early = asyncio.create_task(read(history))
        add(history, "queued")
        await asyncio.sleep(0)
        add(history, "started")
        again = asyncio.create_task(read(history, after=2))
        add(history, "progress", value=3)
        await asyncio.sleep(0)
        add(history, "ended")
        names = [event["event"] for event in await early]
        assert names == ["queued", "started", "progress", "ended"]
        assert [event["id"] for event in await early] == [1, 2, 3, 4]
        assert [event["id"] for event in await again] == [3, 4]
        assert await read(history, after=4) == [] and await read(history, after=99) == []

    run(test)


def test_progress_is_thinned_out_for_readers_who_sleep_and_for_no_others() -> None:
    async def test() -> None:
        history = EventHistory()
        add(history, "queued")
        add(history, "started")
        reader = history.follow()
        assert (await anext(reader))["id"] == 1
        values = 5 * MAX_EVENTS
        for value in range(values):
            add(history, "progress", value=value)
            assert len(history.events) <= MAX_EVENTS
        add(history, "ended")
        rest = [event async for event in reader]
        assert rest[0]["event"] == "started" and rest[-1]["event"] == "ended"
        late = await read(history)
        assert [event["id"] for event in late] == sorted({event["id"] for event in late})
        assert late[-2]["data"] == {"value": values - 1} and late[-1]["id"] == values + 3
        assert len(late) > MAX_EVENTS // 2

    run(test)
