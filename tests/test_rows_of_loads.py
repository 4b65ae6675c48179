"""Rows of certificates of single loads: every plan satisfies them, and both checkers know them."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import check
from dlopt.models.iit.proof_flow import FlowRows
from dlopt.models.iit.proof_installments import InstallmentProgram
from dlopt.models.iit.proof_program import ChunkProgram
from dlopt.problems.iit import Chunk, Solution
from tests.examples import share
from tests.stated_rows import Statement, assert_rows_hold, rows_of, share_of
from tests.strategies import gaps, iit

SEEDS = st.integers(0, 2**32)


def sent(draw, instance, nodes):
    """Return chunks on some nodes, one after the other on the channel, now and then with a gap."""
    cluster, shares = instance.cluster, [draw(st.integers(1, 5)) for _ in nodes]
    channel, free, chunks = min(instance.ready_times), list(instance.ready_times), []
    for node, part in zip(nodes, shares, strict=True):
        load = instance.load * Fraction(part, sum(shares))
        time = cluster.theta_cm + load * cluster.tau_of(node)
        start = max(free[node], channel if time else 0) + draw(gaps)
        channel = max(channel, start + time)
        begun = start + time + draw(gaps)
        free[node] = begun + cluster.theta_cp + load * cluster.chi_of(node)
        chunks.append(Chunk(node, load, start, start + time, begun, free[node]))
    chunks.sort(key=lambda chunk: chunk.transmission_start)
    assert not check(instance, Solution(tuple(chunks)))
    return chunks


@st.composite
def plans(draw, *, single):
    """Return an instance, the chunks of a plan, and a date by which it is complete."""
    instance = draw(iit(most=3, identical=draw(st.booleans())))
    nodes = list(range(instance.cluster.nodes))
    if single:
        order = draw(st.permutations(nodes))[: draw(st.integers(1, len(nodes)))]
    else:
        order = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4))
    chunks = sent(draw, instance, order)
    limit = completion(chunks) + draw(st.sampled_from([0, 0, 1]))
    if draw(st.booleans()):
        instance = replace(instance, absolute_deadline=limit)
    return instance, chunks, limit


def completion(chunks):
    return max(chunk.computation_end for chunk in chunks)


def numbered(groups):
    """Return the groups numbered from 0, in the order in which they occur."""
    known = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return [known[group] for group in groups]


def with_least_costs(instance, groups):
    """Return the instance in which nodes have the least costs of their group."""
    cluster = instance.cluster
    tau, both = [], []
    for group in groups:
        nodes = [node for node, other in enumerate(groups) if other == group]
        tau.append(min(cluster.tau_of(node) for node in nodes))
        both.append(min(cluster.tau_of(node) + cluster.chi_of(node) for node in nodes))
    chi = tuple(w - t for w, t in zip(both, tau, strict=True))
    return replace(instance, cluster=replace(cluster, tau=tuple(tau), chi=chi))


def stated_rows(program):
    rows = [row for one in program.rows() for row in rows_of(*one[:4])]
    for column, (name, most) in enumerate(zip(program.names, program.upper, strict=True)):
        rows += rows_of(name, [(column, Fraction(1))], Fraction(0), most)
    return tuple(rows)


def has_order(instance):
    """Tell whether chunks use the channel in the order of their starts."""
    cluster = instance.cluster
    free = [cluster.theta_cm == 0 == cluster.tau_of(node) for node in range(cluster.nodes)]
    return all(free) or not any(free)


def point_of(program, instance, chunks):
    """Return the values of the columns; the last number stands for all later chunks."""
    setups = instance.cluster.theta_cm + instance.cluster.theta_cp
    end, column = completion(chunks), program.column
    point = {column["t"]: Fraction(end - program.origin)}
    for p, chunk in enumerate(chunks[: program.chunks]):
        group, is_last = program.groups[chunk.node], p == program.chunks - 1
        loads = [one.load for one in (chunks[p:] if is_last else chunks[p : p + 1])]
        point[column[f"z_{group}_{p}"]] = Fraction(1)
        point[column[f"x_{group}_{p}"]] = sum(loads, Fraction(0))
        point[column[f"y_{p}"]] = Fraction(end - chunk.transmission_start - setups)
    return point


def statement_of_chunks(instance, chunks, program, most=1):
    """Return a program of chunks, at most so many a node, with the point of a plan."""
    point, column = point_of(program, instance, chunks), program.column
    counts_nodes, counted = instance.absolute_deadline is not None, program.binaries
    used = {f"u_{program.groups[chunk.node]}" for chunk in chunks} & column.keys()
    point |= {column[name]: Fraction(1) for name in used}
    if most > 1:
        counted = [column[name] for name in program.names if name.startswith("u_")]
        counts_nodes &= bool(counted)
    remarks = {"origin": str(program.origin), "groups": " ".join(map(str, program.groups))}
    return Statement(
        instance,
        "nodes" if counts_nodes else "completion",
        remarks | ({} if most == 1 else {"chunks": str(most)}),
        tuple(program.names),
        frozenset(program.binaries),
        dict.fromkeys(counted if counts_nodes else [column["t"]], Fraction(1)),
        Fraction(1) if counts_nodes else program.limit,
        stated_rows(program),
        point,
        "single" if most == 1 else "k",
        None if most == 1 else most,
    )


@pytest.mark.property
@share(1 / 2)
@given(st.data(), plans(single=True), SEEDS)
def test_plans_satisfy_the_rows_of_chunks(data, planned, seed):
    instance, chunks, limit = planned
    nodes = instance.cluster.nodes
    assume(has_order(instance))
    groups = numbered(data.draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes)))
    count = nodes if max(groups) else data.draw(st.integers(1, nodes))
    program = ChunkProgram(with_least_costs(instance, groups), groups, count, Fraction(limit))
    assert statement_of_chunks(instance, chunks, program).violated() == []
    statement = statement_of_chunks(instance, in_ready_order(instance, chunks), program)
    by_nodes = statement.objective == "nodes"
    since = min(instance.ready_times)
    assert statement.cost == (min(len(chunks), count) if by_nodes else completion(chunks) - since)
    assert_rows_hold(statement, seed, 12)


def most_chunks(chunks):
    return max(Counter(chunk.node for chunk in chunks).values())


def in_ready_order(instance, chunks):
    """Return the plan in which nodes of equal costs are used in the order of their ready times."""
    cluster, ready, kinds = instance.cluster, instance.ready_times, defaultdict(list)
    for node in sorted(range(cluster.nodes), key=lambda node: (ready[node], node)):
        kinds[cluster.tau_of(node), cluster.chi_of(node)].append(node)
    known = {}
    for chunk in chunks:
        if chunk.node not in known:
            kind = cluster.tau_of(chunk.node), cluster.chi_of(chunk.node)
            known[chunk.node] = kinds[kind].pop(0)
    exchanged = [replace(chunk, node=known[chunk.node]) for chunk in chunks]
    assert not check(instance, Solution(tuple(exchanged)))
    return exchanged


@pytest.mark.property
@share(1 / 3)
@given(st.data(), plans(single=False), SEEDS)
def test_plans_with_several_chunks_a_node_satisfy_the_rows(data, planned, seed):
    """All but `equal` hold of every plan; that one if equal nodes are used in ready order."""
    instance, chunks, limit = planned
    assume(has_order(instance))
    most, nodes = most_chunks(chunks) + data.draw(st.integers(0, 1)), instance.cluster.nodes
    if data.draw(st.booleans()):
        program = InstallmentProgram(instance, Fraction(limit), most)
    else:
        groups = numbered(data.draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes)))
        count = most * nodes if max(groups) else data.draw(st.integers(1, most * nodes))
        cheapest = with_least_costs(instance, groups)
        program = ChunkProgram(cheapest, groups, count, Fraction(limit), None, most)
    others = statement_of_chunks(instance, chunks, program, most).violated()
    assert {name.partition("_")[0] for name in others} <= {"equal"}
    chunks = in_ready_order(instance, chunks)
    statement = statement_of_chunks(instance, chunks, program, most)
    value = completion(chunks) - min(instance.ready_times)
    if statement.objective == "nodes":
        value = min(len({chunk.node for chunk in chunks}), program.chunks)
    assert statement.cost == value
    assert_rows_hold(statement, seed, 12)


def statement_of_flows(instance, chunks, limit):
    is_late = instance.absolute_deadline is not None
    program = FlowRows(instance, Fraction(limit), is_late)
    cluster, origin, column = instance.cluster, program.origin, program.column
    point = {column["t"]: completion(chunks) - origin}
    for chunk in chunks:
        computed = chunk.load * cluster.chi_of(chunk.node)
        first = chunk.transmission_start + cluster.theta_cm - origin
        sent_in = first, chunk.transmission_end - origin
        end = chunk.computation_end - origin
        g = program.groups[chunk.node]
        for k, interval in enumerate(program.intervals):
            for letter, event in (("a", sent_in), ("b", (end - computed, end))):
                load = chunk.load * share_of(event, interval, at_end=letter == "b")
                if load:
                    place = column[f"{letter}_{g}_{k}"]
                    point[place] = point.get(place, Fraction(0)) + load
    return Statement(
        instance,
        "completion",
        dict(one.split(": ", 1) for one in program.remarks[:3]),
        tuple(program.names),
        frozenset(),
        {} if is_late else {column["t"]: Fraction(1)},
        None if is_late else program.limit,
        stated_rows(program),
        point,
    )


@pytest.mark.property
@share(1 / 2)
@given(plans(single=False), SEEDS)
def test_plans_satisfy_the_rows_of_flows(planned, seed):
    instance, chunks, limit = planned
    statement = statement_of_flows(instance, chunks, limit)
    since = min(instance.ready_times)
    assert statement.cost == (completion(chunks) - since if statement.costs else 0)
    load = sum(a for column, a in statement.point.items() if statement.names[column][0] == "b")
    assert load == instance.load
    assert_rows_hold(statement, seed, 12)
