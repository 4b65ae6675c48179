"""Rows of certificates of streams: every schedule satisfies them, and both checkers know them."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import check
from dlopt.arithmetic import exact
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.proof_remarks import grid_remarks, unit_remarks
from dlopt.models.admission.proof_sequences import SequenceProgram
from dlopt.models.admission.scaled_instance import ScaledInstance as ScaledTasks
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.models.multistage.chunk_span_relaxation import ReservationSpanRelaxation
from dlopt.models.multistage.fluid_relaxation import ReservationFluidRelaxation
from dlopt.models.multistage.initial_solution import sequence_of
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.admission import objective as objective_of_stream
from dlopt.problems.multistage import objective
from tests.examples import share
from tests.models.admission.sample_instances import equal_parts, point_of_spans
from tests.models.multistage.sample_instances import plans
from tests.models.multistage.test_chunk_span_relaxation import point_of_plan
from tests.stated_rows import Statement, assert_rows_hold, rows_of, share_of
from tests.strategies import admission_plans

STREAM_GOALS = ("accepted", "accepted-load", "accepted-weight", "reject-ratio")
GOALS = (*STREAM_GOALS, "accepted-tasks", "accepted-reservations")
SEEDS = st.integers(0, 2**32)


def columns_of(model, instance, plan):
    """Return the columns of tasks, by name: shares of loads and of set-up times by interval."""
    scaled, cluster, found = model.scaled, instance.cluster, defaultdict(Fraction)
    group_of = {node: g for g, group in enumerate(model.groups) for node in group.nodes}
    accepted = {one.task for one in plan.decisions if one.accepted}
    counts = Counter(chunk.task for chunk in plan.chunks)

    def spread(name, start, end, share_of_task, *, at_end=False):
        event = tuple((exact(t) - scaled.origin) / scaled.time_unit for t in (start, end))
        for k, interval in enumerate(pairwise(model.instants)):
            part = share_of_task * share_of(event, interval, at_end=at_end)
            if part:
                found[f"{name}_{k}"] += part

    for i, task in enumerate(scaled.tasks):
        one = instance.tasks[task.index]
        found[f"z_{task.index}"] = Fraction(one.id in accepted)
        for chunk in plan.chunks:
            if chunk.task != one.id:
                continue
            place, load = f"{task.index}_{group_of[chunk.node]}", exact(chunk.load)
            load /= task.load * scaled.load_unit
            first = chunk.transmission_start + cluster.theta_cm
            spread(f"c_{place}", first, chunk.transmission_end, load)
            last = chunk.computation_start + cluster.theta_cp
            spread(f"w_{place}", last, chunk.computation_end, load, at_end=True)
            each = Fraction(1, counts[one.id])
            if cluster.theta_cm:
                spread(f"u_{place}", chunk.transmission_start, first, each)
            if cluster.theta_cp:
                spread(f"v_{place}", chunk.computation_start, last, each)
        for flow in model.stocks:
            if flow.task == i:
                place = f"{task.index}_{flow.group}"
                before = range(flow.interval + 1)
                found[f"s_{place}_{flow.interval}"] = sum(
                    found.get(f"c_{place}_{k}", 0) - found.get(f"w_{place}_{k}", 0) for k in before
                )
    return found


def statement_of(model, scaled, instance, plan, goal, **about):
    """Return what a certificate states of a relaxation, at the point of a schedule."""
    relaxation = getattr(model, "tasks", model)
    program, cuts = model.maximise_weight(), []
    names = model.column_names()
    numbers = {name: column for column, name in enumerate(names)}
    found = columns_of(relaxation, instance, plan)
    if relaxation is not model:
        for grant in (one for one in plan.grants if one.accepted):
            index = [one.id for one in instance.reservations].index(grant.reservation)
            found[f"q_{index}"] = Fraction(1)
            for g, group in enumerate(relaxation.groups):
                if f"h_{index}_{g}" in numbers:
                    found[f"h_{index}_{g}"] = Fraction(len({*group.nodes} & {*grant.nodes}))
    elif about:
        violated = WindowCuts(model, about["installments"]).separate([1.0] * program.columns)
        cuts = [row for n, one in enumerate(violated) for row in rows_of(f"cut{n}", *one)]
    rows = [*cuts]
    for number, (terms, bounds) in enumerate(zip(program.rows, program.row_bounds, strict=True)):
        rows += rows_of(f"row{number}", terms, *bounds)
    for column, bounds in enumerate(program.column_bounds):
        rows += rows_of(names[column], [(column, Fraction(1))], *bounds)
    point = {numbers[name]: value for name, value in found.items() if value and name in numbers}
    assert {name for name, value in found.items() if value and name not in numbers} <= {
        f"q_{r}" for r in range(len(getattr(instance, "reservations", ())))
    }  # others without a weight may be left out
    return Statement(
        instance,
        goal,
        grid_remarks(scaled, relaxation.instants, [group.nodes for group in relaxation.groups])
        | {"chunks": str(about.get("installments", "any"))},
        tuple(names),
        frozenset(getattr(model, "binaries", relaxation.accepted)),
        {column: cost for column, cost in enumerate(program.costs) if cost},
        Fraction(0),
        tuple(rows),
        point,
        **about,
    )


@pytest.mark.property
@share(1 / 3)
@given(
    admission_plans(state=True) | admission_plans(identical=False, setup=False, most=2),
    st.sampled_from(STREAM_GOALS),
    SEEDS,
)
def test_schedules_of_streams_satisfy_the_rows_and_window_cuts(planned, goal, seed):
    instance, plan = planned
    assert not check(instance, plan)
    scaled = ScaledTasks.from_instance(instance, goal)
    counts = Counter((chunk.task, chunk.node) for chunk in plan.chunks)
    about = {"plan_class": "k", "installments": max(counts.values(), default=1)}
    model = FluidRelaxation(scaled)
    statement = statement_of(model, scaled, instance, plan, goal, **about)
    value = scaled.value_of_finished - statement.cost
    if goal == "reject-ratio":
        value = 1 - value / len(instance.tasks)
    assert value == exact(objective_of_stream(instance, plan, goal))
    assert_rows_hold(statement, seed, 8)


def numbered(scaled, plan, most):
    """Return the chunks of a plan by their numbers, in the order of their starts."""
    tasks = {scaled.instance.tasks[task.index].id: task.index for task in scaled.tasks}
    counts, found = Counter(), {}
    for chunk in sorted(plan.chunks, key=lambda chunk: chunk.transmission_start):
        place = tasks[chunk.task] * len(scaled.nodes) + chunk.node
        found[place * most + counts[place]] = chunk
        counts[place] += 1
    return found


def point_of_sequence(program, plan):
    """Return the values of the columns over sequences of chunks."""
    scaled, point = program.scaled, {}
    accepted = {one.task for one in plan.decisions if one.accepted}
    for task in scaled.tasks:
        point[f"z_{task.index}"] = Fraction(scaled.instance.tasks[task.index].id in accepted)
    chunks = numbered(scaled, plan, program.installments)
    for a, chunk in chunks.items():
        point[f"p_{a}"] = Fraction(1)
        point[f"x_{a}"] = exact(chunk.load) / scaled.load_unit
        point[f"s_{a}"] = (exact(chunk.transmission_start) - scaled.origin) / scaled.time_unit
    point |= {f"y_{a}_{b}": Fraction(1) for a, b in combinations(chunks, 2)}
    return {program.column[n]: v for n, v in point.items() if n in program.column and v}


def exchanged(program, plan):
    """Return the plan in which a task uses equal nodes in their order, if rows are about that."""
    scaled, most = program.scaled, program.installments
    rows = [row.name for row in program.rows() if row.name.startswith("equal")]
    if not rows:
        return plan
    task = int(rows[0].split("_")[1]) // most // len(scaled.nodes)
    kinds, known = defaultdict(list), {}
    for j in scaled.nodes:
        kinds[scaled.tau[j], scaled.chi[j], scaled.free[j]].append(j)
    chunks = sorted(plan.chunks, key=lambda chunk: chunk.transmission_start)
    first = [one.node for one in chunks if one.task == scaled.instance.tasks[task].id]
    for j in dict.fromkeys([*first, *scaled.nodes]):
        known[j] = kinds[scaled.tau[j], scaled.chi[j], scaled.free[j]].pop(0)
    return replace(plan, chunks=tuple(replace(c, node=known[c.node]) for c in plan.chunks))


def statement_of_sequence(program, plan, goal):
    searched = program.searched()
    rows = [row for one in searched.rows for row in rows_of(*one[:4])]
    for column, (name, most) in enumerate(zip(searched.names, searched.upper, strict=True)):
        rows += rows_of(name, [(column, Fraction(1))], Fraction(0), most)
    return Statement(
        program.scaled.instance,
        goal,
        unit_remarks(program.scaled) | {"chunks": str(program.installments)},
        searched.names,
        frozenset(searched.binaries),
        {column: cost for column, cost in enumerate(searched.costs) if cost},
        Fraction(0),
        tuple(rows),
        point_of_sequence(program, plan),
        plan_class="k",
        installments=program.installments,
    )


@pytest.mark.property
@share(1 / 2)
@given(
    admission_plans(state=True) | admission_plans(identical=False, most=2) | admission_plans(),
    st.integers(0, 1),
    st.sampled_from(STREAM_GOALS),
    SEEDS,
)
def test_schedules_of_streams_satisfy_the_rows_over_sequences(planned, more, goal, seed):
    """All but `equal` hold of every plan; that one if a task uses equal nodes in their order."""
    instance, plan = planned
    scaled = ScaledTasks.from_instance(instance, goal)
    counts = Counter((chunk.task, chunk.node) for chunk in plan.chunks)
    program = SequenceProgram(scaled, max(counts.values(), default=1) + more)
    assume(program.chunks and len(program.names) < 150)
    others = statement_of_sequence(program, plan, goal).violated()
    assert {name.partition("_")[0] for name in others} <= {"equal"}
    plan = exchanged(program, plan)
    assert not check(instance, plan)
    statement = statement_of_sequence(program, plan, goal)
    value = scaled.value_of_finished - statement.cost
    if goal == "reject-ratio":
        value = 1 - value / len(instance.tasks)
    assert value == exact(objective_of_stream(instance, plan, goal))
    assert_rows_hold(statement, seed, 12)


def statement_of_spans(relaxation, point, goal):
    """Return what a certificate states over spans of chunks, with cuts, at the point of a plan."""
    model = relaxation.program()
    rows, sides = [*model.program.rows], [*model.program.row_bounds]
    if model.separate is not None:
        full = [float(most) for _, most in model.program.column_bounds]
        for row, *bounds in model.separate(full):
            rows.append(row)
            sides.append(bounds)
    stated = [
        row
        for name, terms, bounds in zip(model.row_names, rows, sides, strict=True)
        for row in rows_of(name, terms, *bounds)
    ]
    for column, (name, bounds) in enumerate(
        zip(model.column_names, model.program.column_bounds, strict=True)
    ):
        stated += rows_of(name, [(column, Fraction(1))], *bounds)
    return Statement(
        getattr(relaxation, "stream", relaxation.scaled).instance,
        goal,
        dict(line.split(": ", 1) for line in model.remarks if ": " in line),
        tuple(model.column_names),
        frozenset(model.binaries),
        {column: cost for column, cost in enumerate(model.program.costs) if cost},
        Fraction(0),
        tuple(stated),
        {column: value for column, value in enumerate(point) if value},
        plan_class="k",
        installments=relaxation.installments,
    )


@pytest.mark.property
@share(1 / 3)
@given(
    admission_plans(state=True) | admission_plans(identical=False, most=2) | admission_plans(),
    st.integers(0, 1),
    st.sampled_from((1, 2, 5)),
    st.sampled_from(STREAM_GOALS),
    SEEDS,
)
def test_schedules_of_streams_satisfy_the_rows_over_spans(planned, more, parts, goal, seed):
    instance, plan = planned
    scaled = ScaledTasks.from_instance(instance, goal)
    assume(scaled.tasks)
    counts = Counter((chunk.task, chunk.node) for chunk in plan.chunks)
    dividing = equal_parts(scaled, parts)
    chunks = max(counts.values(), default=1) + more
    relaxation = ChunkSpanRelaxation(scaled, chunks, dividing, 61)
    assume(0 < len(relaxation.spans) <= 60)
    statement = statement_of_spans(relaxation, point_of_spans(relaxation, plan), goal)
    value = scaled.value_of_finished - statement.cost
    if goal == "reject-ratio":
        value = 1 - value / len(instance.tasks)
    assert value == exact(objective_of_stream(instance, plan, goal))
    assert_rows_hold(statement, seed, 12)


@pytest.mark.property
@share(1 / 3)
@given(
    plans(state=True, tasks=3) | plans(identical=False, most=2, tasks=2),
    st.sampled_from(GOALS),
    SEEDS,
)
def test_schedules_around_reservations_satisfy_the_rows(planned, goal, seed):
    instance, plan = planned
    assert not check(instance, plan)
    scaled = ScaledInstance.from_instance(instance, goal)
    model = ReservationFluidRelaxation(scaled)
    statement = statement_of(model, scaled.tasks_only, instance, plan, goal)
    value = scaled.tasks_only.value_of_finished - statement.cost
    if goal == "reject-ratio":
        value = 1 - value / (len(instance.tasks) + len(instance.reservations))
    assert value == exact(objective(instance, plan, goal))
    assert_rows_hold(statement, seed, 8)


@pytest.mark.property
@share(1 / 3)
@given(
    plans(state=True, tasks=3) | plans(identical=False, most=2, tasks=2),
    st.integers(0, 1),
    st.sampled_from((1, 2, 5)),
    st.sampled_from(GOALS),
    SEEDS,
)
def test_schedules_around_reservations_satisfy_the_rows_over_spans(
    planned, more, parts, goal, seed
):
    instance, plan = planned
    scaled = ScaledInstance.from_instance(instance, goal)
    assume(scaled.tasks)
    dividing = equal_parts(scaled, parts)
    chunks = max(Counter(sequence_of(scaled, plan)).values(), default=1) + more
    relaxation = ReservationSpanRelaxation(scaled, chunks, dividing, 61)
    assume(0 < len(relaxation.spans) <= 60)
    relaxation.program()  # adds the columns of nodes
    fresh = ReservationSpanRelaxation(scaled, chunks, dividing)
    weighted = {instance.tasks[task.index].id for task in scaled.tasks}
    stated = replace(plan, chunks=tuple(one for one in plan.chunks if one.task in weighted))
    statement = statement_of_spans(fresh, point_of_plan(relaxation, stated), goal)
    value = scaled.tasks_only.value_of_finished - statement.cost
    if goal == "reject-ratio":
        value = 1 - value / (len(instance.tasks) + len(instance.reservations))
    assert value == exact(objective(instance, plan, goal))
    assert_rows_hold(statement, seed, 12)
