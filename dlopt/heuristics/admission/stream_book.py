"""The verbs of a book of divisible tasks: to ask, take back, change, and learn what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dlopt.arithmetic import Number, plain_integers, shown, simplest
from dlopt.books import Archive, Consequences
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.negotiating_engine import NegotiatingEngine
from dlopt.heuristics.admission.records import QueuedTask, Rejection
from dlopt.heuristics.admission.stream_facts import NodeChange, ended_at
from dlopt.problems.admission.data import Chunk, Decision, Instance, Solution, Task
from dlopt.problems.cluster import MAX_NODES, Cluster


class BookState(NamedTuple):
    """What is still to come, as a problem of its own, with its plan.

    Its nodes are those in service, in the order of `nodes`; they are busy with what has begun.
    Tasks that arrived before the instance's `now` are promised. An algorithm that promises nothing
    has none: it is 0, and no node is ready before the instant of the book's clock.
    """

    instance: Instance
    plan: Solution
    nodes: tuple[int, ...]


class StreamBook(NegotiatingEngine):
    """The verbs of `dlopt.Book` for divisible tasks.

    Subclasses make planners; this class says what they start from.
    """

    def ask(self, task: Task) -> Decision:
        """Return the decision that `submit` would make on a task; changes nothing.

        Raises
        ------
        InvalidInstanceError
            As `submit`.
        """
        with self._lock:
            known = self._known_decision(task)
            if known is not None:
                return known
            new = self._arriving_task(task)
            refused = self._deciding_planner(new.arrival).decider(new.arrival).would_reject(new)
            return self._decision_on(task.id, new.arrival, refused)

    def cancel(self, identity: str) -> Consequences:
        """Take back the promise to a task; what has begun of it is broken off now.

        It disappears from plan and decisions, as if it had never been submitted; its identity
        cannot be used again until `archive` forgets it.

        Raises
        ------
        NotApplicableError
            If it was never accepted, is cancelled already, or is over; or if the algorithm cannot
            plan again on a busy cluster.
        """
        with self._lock:
            replacer = self._replacer(identity)
            if replacer is not None:
                task = self._queued[identity]
                replacer.replace(task, None)
            else:
                task, facts = self._alive(identity)
                self._free_time(facts.without({identity}))
            self._forget({identity})
            self._cancelled[identity] = task.deadline
            return Consequences()

    def change(self, task: Task) -> Decision:
        """Replace an accepted task by another content, if all promises hold then.

        Parameters
        ----------
        task : Task
            With the identity and the arrival of an accepted one, and any load and deadline. The
            load must not be less than what of it has begun to be sent.

        Returns
        -------
        Decision
            If it is a rejection, nothing has changed, and the former promise holds.

        Raises
        ------
        InvalidInstanceError
            If arrival, load or deadline is impossible.
        NotApplicableError
            As `cancel`.

        Examples
        --------
        >>> from dlopt import Admission
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(1, tau=1, chi=1))
        >>> head.submit(Task("a", arrival=0, load=3, deadline=9)).accepted
        True
        >>> head.change(Task("a", arrival=0, load=5, deadline=9)).accepted
        False
        >>> head.change(Task("a", arrival=0, load=4, deadline=9)).accepted
        True
        """
        with self._lock:
            if not isinstance(task, Task):
                raise NotApplicableError(f"a task is needed, not a {type(task).__name__}")
            replacer = self._replacer(task.id)
            if replacer is not None:
                former = self._queued[task.id]
                new, _ = self._changed_task(task, former, [])
                refused = replacer.replace(former, new)
            else:
                new, refused = self._change_planned_task(task)
            if refused is not None:
                return self._decision_on(task.id, self.now, refused)
            self._queued[task.id], self._contents[task.id] = new, task
            return self._record_decision(self._decision_on(task.id, self.now, None))

    def finished(self, identity: str, at: Number) -> Consequences:
        """Record that a task that has begun ends at an instant, earlier or later than planned.

        Parameters
        ----------
        identity : str
        at : Number
            Not before now. If it is before the planned end, what is left of the task then is
            dropped, and its nodes are free. If it is later, the nodes that it would leave last are
            busy until then.

        Returns
        -------
        Consequences
            A late end may break promises, that to the task itself among them.

        Raises
        ------
        InvalidInstanceError
            If `at` is no number, or lies before now.
        NotApplicableError
            If the task has not begun, or as `cancel`.
        """
        with self._lock:
            end = self._instant("at", at)
            task, facts = self._alive(identity)
            own = facts.chunks_of(identity)
            if not self._begun_chunks(identity):
                raise NotApplicableError(f"task {identity} has not begun")
            planned = [chunk for chunk in self._planned_chunks() if chunk.task == identity]
            if end <= max(chunk.computation_end for chunk in (*own, *planned)):
                kept = tuple(ended_at(own, self.now, end))
                self._free_time(facts.without({identity}).with_chunks(kept))
                self._ended.add(identity)
                return Consequences()
            facts = facts.released(
                (chunk for chunk in own if chunk.transmission_start >= self.now), self._queued
            )
            if not facts.chunks_of(identity):
                raise NotApplicableError(f"no part of task {identity} is running")
            before = max(chunk.computation_end for chunk in own)
            late = facts.with_late_end(identity, end)
            missed = self._missed(task, before, end)
            return self._take_time(late.without_overlaps(identity, self._queued), missed)

    def resources(
        self,
        *,
        add: int = 0,
        remove: Sequence[int] = (),
        fail: Sequence[int] = (),
        repair: Sequence[int] = (),
    ) -> Consequences:
        """Change the nodes of the cluster from now on.

        Parameters
        ----------
        add : int, default 0
            How many new nodes, with the costs of the others. They get the next numbers.
        remove : sequence of int
            Nodes to which nothing is sent any more; they complete what has begun.
        fail : sequence of int
            Nodes that are lost with what they are computing or receiving: it is to be sent again.
        repair : sequence of int
            Nodes that were removed or have failed, and are free from now on.

        Returns
        -------
        Consequences
            Promises are broken as few as possible; of equally many, those made last.

        Raises
        ------
        InvalidInstanceError
            With every node that does not exist, or is not in service or out of it as it must be.
        NotApplicableError
            If the algorithm cannot plan again on a busy cluster.
        """
        remove, fail, repair = map(_node_numbers, (remove, fail, repair))
        with self._lock:
            self._check_resources(add, remove, fail, repair)
            new = (*range(self._node_count, self._node_count + add), *repair)
            change = NodeChange(new, tuple(remove), tuple(fail))
            facts = self._facts().with_nodes(change, self.now, self._queued)
            if remove or fail:
                done = self._take_time(facts)
            else:
                self._free_time(facts)
                done = Consequences()
            self._node_count += add
            self._failed = (self._failed | set(fail)) - set(repair)
            return done

    def archive(self) -> Archive[Decision, Chunk]:
        """Hand out what is over by now, and forget it.

        These are the tasks of which everything is computed, and the rejections before now. Their
        identities are new again afterwards. A caller that archives regularly needs no more memory
        than what is alive takes.

        Notes
        -----
        Complexity: O(log n) for each task and chunk that is handed out, whatever is alive.
        """
        with self._lock:
            now = self.now
            self._take_sent()
            over = []
            for identity in tuple(self._sent.take_ended(now)):
                if not self.planner.waits(self._queued[identity]):
                    over.append(identity)
                elif identity in self._ended:  # the planner still has what was dropped of it
                    self._sent.note_end(identity, now)
            over = list(self._in_order([*over, *self._rejections.take_before(now)]))
            decisions = tuple(self._decisions[identity] for identity in over)
            chunks = [chunk for identity in over for chunk in self._sent.take(identity)]
            self._forget(over)
            for _ in self._cancelled.take_until(now):
                pass  # their identities are new again
            chunks.sort(key=lambda chunk: chunk.transmission_start)
            return Archive(simplest(now), decisions, tuple(chunks))

    def state(self) -> BookState | None:
        """Return what is still to come as a problem of its own; None if nothing is.

        `dlopt.check` accepts its plan at every moment: it is what the book promises.
        """
        with self._lock:
            facts, now = self._facts(), self.now
            begun = [chunk for chunk in facts.chunks if chunk.transmission_start < now]
            busy = replace(facts, chunks=tuple(begun))
            free, channel = busy.free_times(now), busy.channel_free(now)
            number = {node: index for index, node in enumerate(free)}
            planned = [*facts.not_begun(now), *self._planned_chunks()]
            tasks = self._tasks_of(planned)
            if not tasks:
                return None
            instance = Instance(
                Cluster(len(free), *self.cluster.costs_of(0)),
                tasks,
                now=now if self._promises else 0,
                ready_times=tuple(free.values()),
                channel_ready=channel,
            )
            chunks = tuple(replace(chunk, node=number[chunk.node]) for chunk in planned)
            return BookState(instance, Solution(self._promises_to(tasks), chunks), tuple(free))

    @property
    def nodes(self) -> tuple[int, ...]:
        """The numbers of the nodes in service."""
        with self._lock:
            return tuple(sorted(self._in_service))

    def _tasks_of(self, chunks: Iterable[Chunk]) -> tuple[Task, ...]:
        """Return the tasks of chunks with the loads of these, in the order of their arrivals."""
        loads: dict[str, Any] = {}
        for chunk in chunks:
            loads[chunk.task] = loads.get(chunk.task, 0) + chunk.load
        tasks = (
            replace(self._contents[name], load=load, remaining=None) for name, load in loads.items()
        )
        return tuple(sorted(tasks, key=lambda task: task.arrival))

    def _promises_to(self, tasks: Iterable[Task]) -> tuple[Decision, ...]:
        """Return decisions that accept tasks."""
        return tuple(
            Decision(task.id, True, task.arrival, promised=self._promises) for task in tasks
        )

    def _begun_chunks(self, identity: str) -> list[Chunk]:
        """Return the chunks of a task that have begun to be sent, also those that are over."""
        return [
            chunk
            for chunk in self._sent
            if chunk.task == identity and chunk.transmission_start < self.now
        ]

    def _change_planned_task(self, task: Task) -> tuple[QueuedTask, Rejection | None]:
        """Plan all tasks again with a changed one; return it, and who would miss."""
        former, facts = self._alive(task.id)
        if task.id in self._ended:
            raise NotApplicableError(f"task {task.id} was reported to end")
        begun = self._begun_chunks(task.id)
        new, rest = self._changed_task(task, former, begun)
        running = [chunk for chunk in begun if chunk.computation_end > self.now]
        changed = facts.without({task.id}).with_chunks(running).with_waiting(rest)
        found = self._plan(changed)
        if isinstance(found, Rejection):
            return new, found
        self._install(changed, found)
        return new, None

    def _changed_task(
        self, task: Task, former: QueuedTask, begun: list[Chunk]
    ) -> tuple[QueuedTask, QueuedTask]:
        """Return a changed task as the planner sees it, whole and without what has begun."""
        new, faults = self._to_queued_task(task, task.load), []
        sent = sum((chunk.load for chunk in begun), 0 * new.load)
        if task.remaining is not None:
            faults.append(Fault("remaining", task.remaining, "is for tasks of a state only"))
        if new.arrival != former.arrival:
            rule = f"must be that of the accepted task, {shown(simplest(former.arrival), 15)}"
            faults.append(Fault("arrival", task.arrival, rule))
        if new.load < sent:
            rule = f"must not be less than what has begun to be sent, {shown(simplest(sent), 15)}"
            faults.append(Fault("load", task.load, rule))
        end = max((chunk.computation_end for chunk in begun), default=self.now)
        if new.deadline < end:
            rule = f"must not lie before the end of what has begun, {shown(simplest(end), 15)}"
            faults.append(Fault("deadline", task.deadline, rule))
        if faults:
            raise InvalidInstanceError(faults)
        return new, new._replace(load=new.load - sent)

    def _check_resources(
        self, add: int, remove: Sequence[int], fail: Sequence[int], repair: Sequence[int]
    ) -> None:
        """Raise the faults of a change of nodes."""
        self._require_sound()
        faults, seen = [], set[int]()
        if type(add) is not int or not 0 <= add <= MAX_NODES - self._node_count:
            rule = f"must be an integer from 0 to {MAX_NODES - self._node_count}"
            faults.append(Fault("add", add, rule))
        for name, nodes in (("remove", remove), ("fail", fail), ("repair", repair)):
            if not isinstance(nodes, Sequence) or isinstance(nodes, str):
                faults.append(Fault(name, nodes, "must be a sequence of nodes"))
                continue
            for index, node in enumerate(nodes):
                broken = self._wrong_node(name, node, seen)
                if broken is not None:
                    faults.append(Fault(f"{name}[{index}]", node, broken))
        if faults:
            raise InvalidInstanceError(faults)

    def _wrong_node(self, name: str, node: int, seen: set[int]) -> str | None:
        """Return the rule that a node breaks which is to be removed, fails or is repaired."""
        if type(node) is not int or not 0 <= node < self._node_count:
            return f"must be one of the nodes 0 to {self._node_count - 1}"
        if node in seen:
            return "must be named once"
        seen.add(node)
        if name == "repair" and node in self._in_service:
            return "must be out of service"
        out = node in self._failed if name == "fail" else node not in self._in_service
        return "must be in service" if name != "repair" and out else None


def _node_numbers(nodes: Sequence[int]) -> Sequence[int]:
    """Return the numbers of nodes as integers of Python; what is no collection stays as it is."""
    is_list = isinstance(nodes, Iterable) and not isinstance(nodes, str)
    return plain_integers(nodes) if is_list else nodes
