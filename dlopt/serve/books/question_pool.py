"""Threads that answer questions about copies of books, while the books go on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from functools import partial

from dlopt.serve.answers import Answer
from dlopt.serve.books.book_calls import Question
from dlopt.serve.books.limits import BookLimits
from dlopt.serve.errors import UnavailableError

_RETRY_WHEN_FULL_S = 1.0
_RETRY_WHEN_SLOW_S = 60.0
"""What takes too long now takes as long a moment later."""


class QuestionPool:
    """Answers questions, a few at the same time, each within a limit of time.

    A thread cannot be ended: a question that has exceeded its time counts until it is answered, so
    that slow questions hold up other questions, and nothing else. Threads end with the program.

    Parameters
    ----------
    limits : BookLimits
    """

    def __init__(self, limits: BookLimits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.max_questions)
        self._waiting = 0

    async def answer(self, ask: Callable[[], Awaitable[Question]]) -> Answer:
        """Return the answer to a question, which is asked as soon as a thread is free.

        Raises
        ------
        UnavailableError
            If too many questions wait, or the answer is not there in time.
        DloptError
            What the question raises.
        """
        limits = self._limits
        if self._free.locked() and self._waiting >= limits.max_waiting_questions:
            raise UnavailableError(
                f"{limits.max_waiting_questions} questions about books wait already",
                retry_after_s=_RETRY_WHEN_FULL_S,
            )
        try:
            async with asyncio.timeout(limits.question_time_s):
                self._waiting += 1
                try:
                    await self._free.acquire()
                finally:
                    self._waiting -= 1
                return await asyncio.shield(await self._begun(ask))
        except TimeoutError as error:
            raise UnavailableError(
                f"the question was not answered within {limits.question_time_s:g} s",
                retry_after_s=_RETRY_WHEN_SLOW_S,
            ) from error

    async def _begun(self, ask: Callable[[], Awaitable[Question]]) -> asyncio.Future[Answer]:
        """Start a thread that answers, which is free again afterwards."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Answer] = loop.create_future()

        def finish(settle: Callable[[], None]) -> None:
            self._free.release()
            settle()

        def run(question: Question) -> None:
            try:
                settle = partial(answered.set_result, question())
            except Exception as error:
                settle = partial(answered.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the service has stopped
                loop.call_soon_threadsafe(finish, settle)

        try:
            arguments = (await ask(),)
            threading.Thread(target=run, args=arguments, name="dlopt-question", daemon=True).start()
        except BaseException:
            self._free.release()
            raise
        return answered
