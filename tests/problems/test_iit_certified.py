"""The rows that certificates of single loads may have, and no stronger ones.

Both checkers are asked, dlopt's and that of `tests/reference`.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from dlopt.formats.vipr import Certificate, Constraint
from dlopt.io import instance_to_data
from dlopt.models.iit.proof_flow import FlowRows
from dlopt.models.iit.proof_installments import InstallmentProgram
from dlopt.models.iit.proof_program import ChunkProgram
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.problems.iit.certified_program import latest_completion, proven_value
from dlopt.result import Result, Status
from tests.reference import load_program
from tests.reference.vipr import File, RefusedError, Row

THIRD, TINY = Fraction(1, 3), Fraction(1, 10**6)
SAME = Instance(Cluster(4, tau=1, chi=2, theta_cm=THIRD, theta_cp=1), (2, 2, 3, 9), load=4)
DIFFERENT = Instance(Cluster(3, (1, 2, 1), (2, 1, 2), THIRD), (2, 3, 4), load=4)
NO_TWO_EQUAL = Instance(Cluster(3, (1, 2, 1), (2, 1, 3), THIRD), (2, 3, 4), load=4)
FREE = Instance(Cluster(3, tau=0, chi=2), (2, 2, 3), load=4)
DUE = Instance(Cluster(2, tau=1, chi=2), (0, 1), load=4, absolute_deadline=20)
COMPLETE = Fraction(11)
"""Plans are complete by then."""


def verdicts(instance, program, rows, claim=COMPLETE, objective="completion", **more):
    """Return what two checkers say of a program with some rows: whether they accept it."""
    remarks = dict(remark.split(": ", 1) for remark in program.remarks if ": " in remark)
    remarks |= more.pop("remarks", {})
    names, costs = tuple(program.names), more.pop("costs", {0: Fraction(1)})
    integers = frozenset(more.pop("integers", ()))
    named = tuple((name, Constraint(terms, sign, side)) for name, terms, sign, side in rows)
    stated = None if claim is None else claim - min(instance.ready_times)
    stated = claim if objective == "nodes" else stated
    plan_class, installments = more.pop("plan_class", "single"), more.pop("installments", None)
    certificate = Certificate(names, integers, costs, named, stated, (), remarks)
    result = Result(
        Status.BOUND, objective=objective, plan_class=plan_class, installments=installments
    )
    first = proven_value(instance, result, certificate)[1] is None
    senses = {1: "G", -1: "L", 0: "E"}
    file = File(remarks, list(names), set(integers), costs)
    file.rows = [Row(name, senses[sign], side, terms) for name, terms, sign, side in rows]
    file.claim = stated
    chunks = 1 if plan_class == "single" else installments
    try:
        load_program.check(instance_to_data(instance), objective, file, chunks)
    except RefusedError:
        return first, False
    return first, True


def chunk_program(instance, groups, chunks, most=1):
    return ChunkProgram(instance, groups, chunks, COMPLETE, None, most)


CHUNKS = {
    "identical nodes": (SAME, chunk_program(SAME, (0, 0, 0, 0), 4)),
    "the last chunk stands for later ones": (SAME, chunk_program(SAME, (0, 0, 0, 0), 3)),
    "nodes that differ": (NO_TWO_EQUAL, chunk_program(NO_TWO_EQUAL, (0, 1, 2), 3)),
    "two groups": (DIFFERENT, chunk_program(DIFFERENT, (0, 1, 0), 3)),
    "the channel takes no time": (FREE, chunk_program(FREE, (0, 0, 0), 3)),
}
TWICE = Instance(Cluster(2, tau=1, chi=2, theta_cm=THIRD, theta_cp=1), (3, 2), load=4)
SLOW = Instance(Cluster(2, tau=0, chi=(2, 3)), (2, 3), load=4)
SEVERAL = {
    "two chunks a node": (TWICE, InstallmentProgram(TWICE, COMPLETE, 2)),
    "transmissions take no time": (SLOW, InstallmentProgram(SLOW, COMPLETE, 2)),
    "two groups of several nodes": (SAME, chunk_program(SAME, (0, 0, 1, 1), 8, 2)),
    "the last one stands for all later ones": (SAME, chunk_program(SAME, (0,) * 4, 5, 3)),
}
FLOWS = {
    "groups of all ready times": (SAME, FlowRows(SAME, COMPLETE)),
    "different costs": (DIFFERENT, FlowRows(DIFFERENT, COMPLETE)),
}
ALL = {**CHUNKS, **SEVERAL, **FLOWS}


def stated(program):
    """Yield the rows and the bounds of columns as files have them."""
    upper = program.upper
    for column, name in enumerate(program.names):
        yield f"{name}_G", {column: Fraction(1)}, 1, Fraction(0)
        yield f"{name}_L", {column: Fraction(1)}, -1, upper[column]
    for row in program.rows():
        sign, side = (1, row.lower) if row.upper is None else (-1, row.upper)
        yield f"{row.name}_{'G' if sign == 1 else 'L'}", dict(row.terms), sign, side


def follows(rows, terms, sign, side):
    """Tell whether a row is weaker than one of some rows: the second checker asks for no name."""
    for _, known, of, strongest in rows:
        columns = known.keys() | terms.keys()
        if -sign * side >= -of * strongest and all(
            -sign * terms.get(j, 0) <= -of * known.get(j, 0) for j in columns
        ):
            return True
    return False


@pytest.mark.parametrize("case", ALL)
def test_rows_are_accepted_and_no_stronger_ones(case):
    """A row gets stronger by its right-hand side, and by the coefficient of any column."""
    instance, program = ALL[case]
    about = {"plan_class": "single" if case in CHUNKS else "any"}
    if case in SEVERAL:
        most = program.chunks_a_node
        about = {"plan_class": "k", "installments": most, "remarks": {"chunks": str(most)}}
    rows = list(stated(program))
    assert verdicts(instance, program, rows, **about) == (True, True)
    weaker = []
    for name, terms, sign, side in rows[:: 3 if case in SEVERAL else 1]:
        changes = [(terms, side + sign * TINY)]
        some = {*[*terms][::2], *[*terms][-1:]}
        for column in () if name[:-2] in program.names and sign == 1 else some:
            changes.append(({**terms, column: terms[column] - sign * TINY}, side))
        for more, least in changes:
            one = [(name, more, sign, least)]
            first, second = verdicts(instance, program, one, **about)
            others = [row for row in rows if row[0] != name]
            of_flow = name[0] in "ab"  # the channel may bound it more
            assert not first, (name, more, least)
            assert of_flow or second == follows(others, more, sign, least), (name, more, least)
        fewer = {column: a + sign * TINY for column, a in terms.items()}
        weaker.append((name, fewer, sign, side - sign * TINY))
    assert verdicts(instance, program, weaker, **about) == (True, True)
    equation = [("load", dict(program.load_row().terms), 0, program.load)]
    assert verdicts(instance, program, equation, **about) == (False, False)


CHUNK = CHUNKS["identical nodes"]
TWO = SEVERAL["two chunks a node"]
FLOW = FLOWS["different costs"]


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        (CHUNK, {"plan_class": "any"}),
        (CHUNK, {"plan_class": "k"}),
        (CHUNK, {"plan_class": "k", "installments": 2}),
        (TWO, {"plan_class": "k", "installments": 3}),
        (TWO, {"plan_class": "any"}),
        (TWO, {"plan_class": "k", "installments": 2, "remarks": {"chunks": "0"}}),
        (TWO, {"plan_class": "k", "installments": 2, "remarks": {"chunks": "5/2"}}),
        (TWO, {"plan_class": "k", "installments": 2, "remarks": {"chunks": "3"}}),
        (TWO, {"plan_class": "k", "installments": 2, "costs": {18: Fraction(1)}}),
        (CHUNK, {"remarks": {"origin": "3"}}),
        (CHUNK, {"remarks": {"origin": "x"}}),
        (CHUNK, {"remarks": {"groups": "0 0 0"}}),
        (CHUNK, {"remarks": {"groups": "0 0 0 2"}}),
        (CHUNK, {"remarks": {"groups": "0 0 0 x"}}),
        (CHUNK, {"remarks": {"instants": "0"}}),
        (CHUNK, {"integers": [0]}),
        (CHUNK, {"costs": {0: Fraction(2)}}),
        (CHUNK, {"costs": {1: Fraction(1)}}),
        (CHUNK, {"claim": None}),
        (CHUNK, {"objective": "nodes", "claim": Fraction(2), "costs": {1: Fraction(1)}}),
        (FLOW, {"plan_class": "any", "integers": [1]}),
        (FLOW, {"plan_class": "any", "remarks": {"instants": "1"}}),
        (FLOW, {"plan_class": "any", "remarks": {"instants": "0 2 1"}}),
        (FLOW, {"plan_class": "any", "remarks": {"instants": "0 9"}}),
        (FLOW, {"plan_class": "any", "remarks": {"instants": "0 one"}}),
        (FLOW, {"plan_class": "any", "remarks": {"instants": ""}}),
    ],
)
def test_what_files_may_not_say(case, changes):
    instance, program = case
    assert verdicts(instance, program, [], **changes) == (False, False)


def test_flows_bound_no_number_of_nodes():
    costs = {0: Fraction(1)}
    program = FlowRows(DUE, Fraction(20))
    found = verdicts(DUE, program, [], Fraction(1), "nodes", costs=costs, plan_class="any")
    assert found == (False, False)


def test_names_of_other_columns_and_rows_are_refused():
    instance, program = CHUNK
    for names in (["t", "q_0"], ["t", "z_0"], ["t", "y_0_1"], ["t", "z_00_1"]):
        other = chunk_program(instance, (0, 0, 0, 0), 4)
        other.names = names
        assert verdicts(instance, other, []) == (False, False)
    terms = {1: Fraction(1)}
    for name in (
        *("work_0", "load_0", "order_9", "chunk_9_0", "chunk_0_9", "nodes_3", "LOAD"),
        *("first_0_0_0", "busy_0_0", "next_0_0_1", "equal_0_1_1", "used_0_9"),
    ):
        assert verdicts(instance, program, [(name, terms, 1, Fraction(1, 2))]) == (False, True) or (
            verdicts(instance, program, [(name, terms, 1, Fraction(2))]) == (False, False)
        )
    instance, program = FLOW
    for name in ("work_0", "load_0", "channel_9", "nodes_0_9", "nodes_9_0", "channel_0_t", "X"):
        found = verdicts(
            instance, program, [(name, {1: Fraction(1)}, -1, Fraction(0))], plan_class="any"
        )
        assert found == (False, False), name


def test_only_single_nodes_are_used_in_an_order():
    program = chunk_program(SAME, (0, 1, 1, 2), 8, 2)
    about = {"plan_class": "k", "installments": 2, "remarks": {"chunks": "2"}}
    column = {name: number for number, name in enumerate(program.names)}
    for one, other, holds in ((0, 2, True), (2, 0, False), (0, 1, False)):
        row = (f"equal_{one}_{other}_0", {column[f"z_{other}_0"]: Fraction(1)}, -1, Fraction(0))
        assert verdicts(SAME, program, [row], **about) == (holds, holds)


def test_chunks_that_take_no_time_to_send_have_no_order():
    instance = Instance(Cluster(2, (0, 1), (1, 1)), (0, 0), load=1)
    program = chunk_program(instance, (0, 1), 2)
    assert verdicts(instance, program, []) == (False, False)


def test_later_chunks_of_nodes_that_differ_are_not_left_out():
    program = chunk_program(DIFFERENT, (0, 1, 2), 2)
    assert verdicts(DIFFERENT, program, []) == (False, False)


@pytest.mark.parametrize("deadline", [20, 20.0])
def test_deadlines_in_floats_are_later_than_any_plan_that_is_accepted(deadline):
    instance = Instance(Cluster(2, tau=1, chi=2), (0, 1), load=4, absolute_deadline=deadline)
    found = latest_completion(instance)
    assert 0 <= found - 20 <= Fraction(1, 10**7)
    assert (found > 20 + Fraction(1, 10**9)) == isinstance(deadline, float)
    program = ChunkProgram(instance, (0, 0), 2, found)
    rows = [("limit_1", {0: Fraction(0), **dict(program.limit_row(1).terms)}, 1, Fraction(0))]
    costs = dict.fromkeys(program.binaries, Fraction(1))
    more = {"objective": "nodes", "claim": Fraction(1), "costs": costs}
    assert verdicts(instance, program, rows, **more) == (True, True)
    short = ChunkProgram(instance, (0, 0), 2, found - TINY)
    rows = [("limit_1", dict(short.limit_row(1).terms), 1, Fraction(0))]
    assert verdicts(instance, program, rows, **more) == (False, False)
