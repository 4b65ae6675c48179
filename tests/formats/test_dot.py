"""DOT: the grammar, the weights, and files that are wrong."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.formats.dot import parse, read, write
from dlopt.formats.dot_parser import parse_dot
from dlopt.formats.task_graph import GraphEdge, GraphTask, TaskGraph, TaskGraphBuilder
from tests.formats.graph_faults import told


def edges_of(text: str) -> list[tuple[str, str, dict[str, str]]]:
    edges = parse_dot(text, TaskGraphBuilder()).edges
    return [(edge.source, edge.target, edge.attributes) for edge in edges]


def nodes_of(text: str) -> dict[str, dict[str, str]]:
    return {
        name: node.attributes for name, node in parse_dot(text, TaskGraphBuilder()).nodes.items()
    }


# the language


def test_names_numbers_texts_and_html() -> None:
    text = 'digraph { a_1; -.5; 3.; "x y"; "say \\"so\\""; "a" + "b"; <b <i>c</i>>; ä; "node" }'
    names = ["a_1", "-.5", "3.", "x y", 'say "so"', "ab", "<b <i>c</i>>", "ä", "node"]
    assert list(nodes_of(text)) == names


def test_comments_separators_and_letter_case() -> None:
    text = """# a line of the preprocessor
    /* long
       comment */ DiGraph g { // short
      A [x=1; y=2, z=true] ; B [X="3"] [y=4]
      A -> B
    }
    """
    assert nodes_of(text) == {"A": {"x": "1", "y": "2", "z": "true"}, "B": {"x": "3", "y": "4"}}
    assert edges_of(text) == [("A", "B", {})]


def test_defaults_hold_within_and_behind() -> None:
    text = "digraph { a; node [x=1]; b; subgraph s { node [x=2]; edge [y=5]; c -> b } d; c -> d }"
    assert nodes_of(text) == {"a": {}, "b": {"x": "1"}, "c": {"x": "2"}, "d": {"x": "1"}}
    assert edges_of(text) == [("c", "b", {"y": "5"}), ("c", "d", {})]


def test_a_node_told_again_gets_more() -> None:
    assert nodes_of("digraph { a [x=1]; a [x=2, y=3] }") == {"a": {"x": "2", "y": "3"}}


def test_chains_ports_and_subgraphs() -> None:
    text = "digraph { a:n -> b:p:s -> {c; d} -> subgraph t { e } [x=1] }"
    ends = [(source, target) for source, target, _ in edges_of(text)]
    assert ends == [("a", "b"), ("b", "c"), ("b", "d"), ("c", "e"), ("d", "e")]
    assert all(given == {"x": "1"} for *_, given in edges_of(text))


def test_attributes_of_the_graph() -> None:
    found = parse_dot(
        'digraph g { graph [A=1]; "no of"=2; subgraph { b=3; graph [c=4] } }', TaskGraphBuilder()
    )
    assert found.facts == {"a": "1", "no of": "2"}


def test_a_strict_graph_joins_the_same_edges() -> None:
    text = "digraph { a -> b [x=1]; a -> b [y=2] }"
    assert len(edges_of(text)) == 2
    assert edges_of(f"strict {text}") == [("a", "b", {"x": "1", "y": "2"})]


def test_depth_is_no_limit() -> None:
    depth = 50_000
    assert list(nodes_of("digraph {" + "{" * depth + "a" + "}" * depth + "}")) == ["a"]


BAD = {
    "empty": ("", "line 1: must hold a graph"),
    "blank": ("\n// only\n", "line 1: must hold a graph"),
    "other": ("<adag/>", "line 1: 'digraph' must stand at the beginning, got '<adag/>'"),
    "undirected": (
        "graph { a -- b }",
        "line 1: the graph must be directed: a digraph, got 'graph'",
    ),
    "no bracket": ("digraph g\n a", "line 2: '{' must stand before what the graph holds, got 'a'"),
    "not closed": ("digraph {\n a;\n", "line 2: '}' must stand at the end of what is open"),
    "behind": ("digraph { }\n\njunk", "line 3: 'the end' must stand after the graph, got 'junk'"),
    "no head": ("digraph {\n a ->\n}", "line 3: a node must follow the arrow, got '}'"),
    "no name": ("digraph { a -> ; }", "line 1: a name must stand here, got ';'"),
    "no value": ("digraph {\n a [x=]\n}", "line 2: a name must stand here, got ']'"),
    "ends": ("digraph {\n a [x=", "line 2: a name must stand here"),
    "ends early": ("digraph {\n a [x", "line 2: '=' must stand after the name of an attribute"),
    "flag": ("digraph { a [x] }", "line 1: '=' must stand after the name of an attribute, 'x'"),
    "comma": ("digraph {\n a [work=1,5] }", "line 2: '=' must stand after the name of an"),
    "unit": ("digraph {\n a [work=12s] }", "line 2: a number must not run into a name"),
    "grouping": ("digraph { a [work=1_000] }", "line 1: a number must not run into a name"),
    "hexadecimal": ("digraph { a [work=0x10] }", "line 1: a number must not run into a name"),
    "dots": ("digraph { a [work=1.2.3] }", "line 1: a number must not run into a name"),
    "half an exponent": ("digraph { a [work=1e] }", "line 1: a number must not run into a name"),
    "name": ("digraph { 1st -> b }", "line 1: a number must not run into a name: what is both"),
    "edge": ("digraph { a -> b [Weight=1e3x] }", "line 1: a number must not run into a name"),
    "twice": ("digraph { a [Weight=1, weight=7] }", "line 1: the attribute 'weight' must not be"),
    "line": ("digraph { a -- b }", "line 1: edges of a digraph are written ->, got '--'"),
    "quote": ('digraph {\n "a }', "line 2: is not valid DOT, got"),
    "html": ("digraph {\n\n <a }", "line 3: the bracket is never closed, got '<'"),
    "sign": ("digraph {\n a $ b }", "line 2: is not valid DOT, got '$ b }'"),
    "plus": ('digraph { "a" + b }', "line 1: a text in quotes must follow the plus, got 'b'"),
    "keyword": ("digraph { a -> node }", "line 1: a name must stand here, got 'node'"),
    "subgraph": ("digraph { subgraph s a }", "line 1: '{' must stand before what the subgraph"),
}


@pytest.mark.parametrize(("text", "rule"), BAD.values(), ids=BAD.keys())
def test_what_is_no_dot(text: str, rule: str) -> None:
    assert told(parse, text)[0].startswith(rule)


# task graphs


def test_weights() -> None:
    graph = parse("digraph G { 0 [Weight=5]; 1 [WORK=2.5]; 0 -> 1 [Weight=7]; }")
    assert graph.tasks == (GraphTask("0", 5), GraphTask("1", 2.5))
    assert graph.edges == (GraphEdge("0", "1", 7),) and graph.unit == "time" and graph.name == "G"
    assert parse("digraph { a [work=0.1] }", exact_numbers=True).tasks[0].work == Fraction(1, 10)
    assert parse("digraph { a [work=1]; b [work=1]; a -> b }").edges[0].data == 0


def test_simdag() -> None:
    graph = parse('digraph { c [size="2e9"]; root -> c [size="2e8"]; c -> end [size=1] }')
    assert {task.id: task.work for task in graph.tasks} == {"c": 2 * 10**9, "root": 0, "end": 0}
    assert graph.unit == "amount" and graph.edges[0].data == 2 * 10**8


def test_costs_per_machine() -> None:
    graph = parse('digraph { machines="x,y"; a [costs="1, -"]; b [costs="2,3"]; c [work=4] }')
    assert [task.costs for task in graph.tasks] == [(1, None), (2, 3), None]
    assert graph.machines == ("x", "y")
    assert parse('digraph { a [costs="1,2,3"] }').machines == ("p0", "p1", "p2")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("digraph {}", "must hold a task"),
        ("digraph {\n a\n}", "line 2: a task must have one of the attributes work, weight, size"),
        ("digraph { a [work=x] }", "line 1: the attribute work of a task must be a finite number"),
        ("digraph { a [work=-1] }", "line 1: the attribute work of a task must not be negative"),
        ('digraph { a [costs="1,x"] }', "line 1: the cost must be a finite number, got 'x'"),
        ('digraph { a [costs="-,-"] }', "line 1: a task must be able to run on some machine"),
        (
            'digraph { a [costs="1,2"];\n b [costs="1"] }',
            "line 2: a task must have as many costs as there are machines, 2, got 1",
        ),
        (
            "digraph { node [work=1];\n a -> b [data=y] }",
            "line 2: the attribute data of an edge must be a finite number, got 'y'",
        ),
        (
            "digraph { node [work=1];\n a -> b;\n b -> a }",
            "line 2: must have no cycle, got 'a -> b -> a'",
        ),
        (
            "digraph { node [work=1]; a -> b;\n a -> b }",
            "line 2: an edge must be given once, and line 1 has it, got 'a -> b'",
        ),
    ],
)
def test_bad_task_graphs(text: str, rule: str) -> None:
    assert told(parse, text)[0].startswith(rule)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "chain.dot"
    path.write_text("digraph { a [work=1] }")
    assert read(path).name == "chain"
    path.write_text("digraph named { a [work=1] }")
    assert read(path).name == "named"
    path.write_text("digraph { a }")
    assert told(read, path)[0].startswith(f"{path}: line 1: a task must have")


GRAPH = TaskGraph(
    (GraphTask("a b", Fraction(1, 3)), GraphTask("digraph", costs=(2, None)), GraphTask('"', 0.5)),
    (GraphEdge("a b", '"', 2), GraphEdge('"', "digraph", 1.5)),
    name="a graph",
    machines=("m", "n"),
    unit="amount",
    facts=(("CP Length", "3"), ("x", "")),
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    for graph in (GRAPH, replace(GRAPH, name="", unit="time", facts=())):
        write(graph, tmp_path / "g.dot")
        again = read(tmp_path / "g.dot", exact_numbers=True)
        assert again == replace(graph, name=graph.name or "g")


@pytest.mark.parametrize("name", ["a\\", '\\"', "a\\\nb"])
def test_names_that_dot_cannot_say(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match="DOT has no way to write"):
        write(TaskGraph((GraphTask(name, 1),), ()), tmp_path / "a.dot")
    assert not (tmp_path / "a.dot").exists()


@pytest.mark.property
@given(st.text(max_size=8), st.integers(0, 10**20))
def test_any_name_is_written_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, work: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "names.dot"
    graph = TaskGraph((GraphTask(name, work),), (), name="g")
    try:
        write(graph, path)
    except NotApplicableError as error:
        assert "DOT has no way to write" in str(error)
        assert "\\" in name or not name.isprintable()
    else:
        assert read(path) == graph


@pytest.mark.property
@given(st.text(alphabet='digraph{}[];,=->"<>+: \n\\a1/*#', max_size=40))
def test_any_text_is_a_graph_or_an_error(text: str) -> None:
    for whole in (text, "digraph {" + text + "}"):
        try:
            graph = parse(whole)
        except InvalidInstanceError as error:
            assert error.faults
        else:
            assert graph.tasks


@pytest.mark.parametrize(
    ("text", "work"),
    [("1e6", 10**6), ("1e-05", 1e-5), ("2.5E+1", 25), (".5", 0.5), ("7.", 7), ('"1e3"', 1000)],
)
def test_numbers_as_python_writes_them(text: str, work: float) -> None:
    """Without quotes, too; none of them is ever cut short."""
    graph = parse(f"digraph {{ a [Weight={text}]; b [work=1]; a -> b [Weight={text}]; }}")
    assert graph.tasks[0].work == work and graph.edges[0].data == work


def test_the_same_value_twice_is_no_contradiction() -> None:
    assert nodes_of("digraph { a [w=1, W=1] }") == {"a": {"w": "1"}}


def test_groups_draw_no_more_edges_than_can_be_held() -> None:
    """Two lines could ask for sixteen million."""
    many = " ".join(f"n{k}" for k in range(4000))
    found = told(parse, f"digraph {{ node [work=1] {{{many}}} -> {{m{many.replace(' ', ' m')}}} }}")
    assert found == [
        "line 1: arrows between groups must draw at most 1,000,000 edges, got '16,000,000 edges'"
    ]
    few = " ".join(f"n{k}" for k in range(30))
    graph = parse(f"digraph {{ node [work=1] {{{few}}} -> {{m{few.replace(' ', ' m')}}} }}")
    assert len(graph.edges) == 900
