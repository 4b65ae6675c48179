"""The process of a job, seen from the server's event loop: started, watched, stopped and ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from dlopt.batch.messages import receive_async, send
from dlopt.batch.worker_process import WorkerProcess
from dlopt.serve.jobs.job_records import JobInput
from dlopt.serve.jobs.worker_main import PROGRAM, STOP, Begun, Ended, Progress

ANSWER_TO_STOP_S = 0.7
"""Seconds in which a process that is asked to stop must answer, or is ended: of the second in which
the client is to have its answer, the rest is for the store and the network."""
MIN_OVERRUN_S = 1.0
"""Seconds by which a job may exceed its time limit."""
OVERRUN_SHARE = 0.05
"""Share of the limit by which it may, if that is more than `MIN_OVERRUN_S`."""
START_S = 120.0
"""Seconds in which a process must have read a request, imported what answers it, and begun. Chosen
by hand: it takes less than two on an idle machine."""


def overrun_s(time_s: float) -> float:
    """Return the seconds by which a job may exceed a time limit.

    Examples
    --------
    >>> overrun_s(10), overrun_s(3600)
    (1.0, 180.0)
    """
    return max(MIN_OVERRUN_S, OVERRUN_SHARE * time_s)


class ProcessEndedError(Exception):
    """The process of a job has ended before it answered, of itself or by an order."""


class WorkerHandle:
    """A process that answers one request at a time; all methods are for one event loop.

    `start` makes one. It takes memory and no time until it is asked something.
    """

    def __init__(
        self,
        process: WorkerProcess,
        pipe: asyncio.StreamReader,
        transport: asyncio.ReadTransport,
        memory_mb: int,
    ) -> None:
        self._process = process
        self._pipe = pipe
        self._transport = transport
        self._memory_mb = memory_mb
        self._can_stop = False
        self._reason_of_end: str | None = None
        self._is_idle = True

    @classmethod
    async def start(cls, memory_mb: int) -> WorkerHandle:
        """Return a process that is ready.

        Raises
        ------
        OSError, EOFError
            If it cannot be started, dies of that, or is not ready in `START_S`.
        """
        loop, pipe = asyncio.get_running_loop(), asyncio.StreamReader()
        starting = loop.run_in_executor(None, WorkerProcess, PROGRAM)
        try:
            worker = await asyncio.shield(starting)
        except asyncio.CancelledError:
            _remove(await starting)  # it starts all the same
            raise
        with contextlib.ExitStack() as undoing:
            undoing.callback(_remove, worker)
            transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(pipe), worker.child.stdout
            )
            undoing.callback(transport.close)
            process = cls(worker, pipe, transport, memory_mb)
            await process._send(memory_mb)
            async with asyncio.timeout(START_S):
                await receive_async(pipe)
            undoing.pop_all()
        return process

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked another request."""
        has_ended = self._pipe.at_eof() or self._process.child.poll() is not None
        return self._is_idle and self._reason_of_end is None and not has_ended

    @property
    def is_ended_on_purpose(self) -> bool:
        """Whether `end` or `stop` was called, or its time was up."""
        return self._reason_of_end is not None

    async def ask(
        self,
        job: JobInput,
        *,
        time_s: float,
        is_stoppable: bool,
        receive: Callable[[Begun | Progress], None],
    ) -> Ended:
        """Return the answer to a request.

        Parameters
        ----------
        job : JobInput
        time_s : float
            Seconds since `Begun` that it may take. It is asked to stop after a little more, and
            ended after `overrun_s`.
        is_stoppable : bool
            Whether `STOP` makes it answer.
        receive : callable
            Called with each message before the answer.

        Raises
        ------
        ProcessEndedError
            If there is no answer, with the reason.
        """
        loop = asyncio.get_running_loop()
        self._is_idle = False  # it stays so if there is no answer
        self._process.clear_stderr()
        late = f"it had not begun {START_S:g} s after its process was asked"
        with contextlib.ExitStack() as undoing:
            try:
                async with asyncio.timeout(START_S) as self._deadline:
                    await self._send(job)
                    while not isinstance(message := await receive_async(self._pipe), Ended):
                        if isinstance(message, Begun):
                            overrun = overrun_s(time_s)
                            late = f"it exceeded its time limit of {time_s:g} s by {overrun:g} s"
                            self._deadline.reschedule(loop.time() + time_s + overrun)
                            if is_stoppable:
                                timer = loop.call_later(time_s + overrun / 2, self._ask_to_stop)
                                undoing.callback(timer.cancel)
                                self._can_stop = True
                        receive(message)
            except (OSError, EOFError) as error:
                if isinstance(error, TimeoutError):
                    self.end(late)
                raise ProcessEndedError(await self._why()) from error
            finally:
                self._can_stop = False
        self._is_idle = message.is_reusable
        return message

    def stop(self) -> None:
        """Ask for what is known so far; a process that cannot say it, or not in time, is ended."""
        if self._can_stop:
            self._ask_to_stop()
            if not self._deadline.expired():
                self._deadline.reschedule(asyncio.get_running_loop().time() + ANSWER_TO_STOP_S)
        else:
            self.end("stopped")

    def end(self, reason: str) -> None:
        """End the process at once; a request that it has fails with this reason."""
        self._reason_of_end = self._reason_of_end or reason
        self._process.child.kill()

    async def close(self) -> None:
        """End the process, and remove what is left of it."""
        self.end("the service has ended")
        self._transport.close()
        # It is done even if nobody waits for it.
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(None, _remove, self._process))

    def _ask_to_stop(self) -> None:
        assert self._process.child.stdin is not None
        # It has read the request, so that there is room in the pipe. Of its end we hear anyway.
        with contextlib.suppress(OSError):
            send(self._process.child.stdin, STOP)

    async def _send(self, message: object) -> None:
        assert self._process.child.stdin is not None
        await asyncio.to_thread(send, self._process.child.stdin, message)

    async def _why(self) -> str:
        """Return why the process has ended."""
        end = await asyncio.to_thread(self._process.end, self._memory_mb)
        if self._reason_of_end is not None:
            return self._reason_of_end
        return end.description if end.out_of_memory else f"its process {end.description}"


def _remove(worker: WorkerProcess) -> None:
    """End a process, and remove what is left of it."""
    worker.kill()
    worker.close()
