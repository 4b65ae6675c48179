"""Pegasus workflows: DAX and .dag, what they may hold and what they may not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dlopt.formats.dax import parse, parse_dag, read, read_dag
from dlopt.formats.task_graph import GraphEdge
from tests.formats.graph_faults import told

DAX = """<?xml version="1.0"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1">
  <job id="a" runtime="1.5">
    <uses file="f" link="output" size="8"/>
    <uses file="g" link="output" size="4"/>
  </job>
  <job id="b" runtime="3">
    <uses file="f" link="input" size="9"/>
    <uses file="h" link="input" size="2"/>
  </job>
  <child ref="b"><parent ref="a"/></child>
</adag>
"""
DAG = """# two tasks
FILE f 8
FILE g 4
FILE h 2
TASK a kind 1.5
TASK b kind 3

INPUTS b f h
OUTPUTS a f g
EDGE a b
"""


def test_a_workflow() -> None:
    graph = parse(DAX, name="two")
    assert [(task.id, task.work) for task in graph.tasks] == [("a", 1.5), ("b", 3)]
    # where they differ on the size of a file, the job that writes it is right
    assert graph.edges == (GraphEdge("a", "b", 8),)
    assert graph.unit == "amount" and graph.name == "two" and graph == parse_dag(DAG, name="two")
    assert parse(DAX, exact_numbers=True).tasks[0].work == Fraction(3, 2)


def test_schema_3_and_prefixes() -> None:
    text = """<p:adag xmlns:p="http://pegasus.isi.edu/schema/DAX" version="3.6">
    <p:job id="a"><p:profile namespace="pegasus" key="runtime"> 7 </p:profile>
      <p:profile key="other">x</p:profile>
      <p:uses name="f" link="inout" size="5"/></p:job>
    <p:job id="b" runtime="1"><p:uses name="f" link="inout"/></p:job>
    <p:executable name="x"/><p:uses name="outside" link="input"/><p:parent ref="outside"/>
    <p:child ref="b"><p:parent ref="a" edgeLabel="x"/></p:child></p:adag>"""
    graph = parse(text)
    assert [task.work for task in graph.tasks] == [7, 1]
    assert graph.edges == (GraphEdge("a", "b", 5),)


def test_a_file_without_size_has_that_of_other_jobs() -> None:
    text = DAX.replace(' link="output" size="8"', ' link="output"')
    assert parse(text).edges[0].data == 9
    assert told(parse, text.replace(' size="9"', "")) == [
        "line 4: the size of the file must be given, got 'f'"
    ]


def test_an_edge_without_files() -> None:
    assert parse(DAX.replace('file="f" link="input"', 'file="g2" link="input"')).edges[0].data == 0


BAD = {
    "empty": ("", "line 1: is not valid XML: no element found"),
    "cut": (DAX[:300], "line 9: is not valid XML: unclosed token"),
    "text": ("hello", "line 1: is not valid XML: syntax error"),
    "root": ("<dag/>", "line 1: the first element must be adag, got 'dag'"),
    "no job": ("<adag/>", "must hold a task"),
    "no id": ('<adag><job runtime="1"/></adag>', "line 1: the element job must have an attribute"),
    "no time": (
        DAX.replace(' runtime="3"', ""),
        "line 7: the job must have a runtime, got 'b'",
    ),
    "time": (DAX.replace('"1.5"', '"soon"'), "line 3: the run time must be a finite number"),
    "negative": (DAX.replace('"1.5"', '"-1"'), "line 3: the run time must not be negative"),
    "size": (DAX.replace('"8"', '"x"'), "line 4: the size must be a finite number, got 'x'"),
    "no file": (
        DAX.replace('file="g" ', ""),
        "line 5: the element uses must have an attribute name",
    ),
    "no ref": (DAX.replace(' ref="a"', ""), "line 11: the element parent must have an attribute"),
    "parent": (
        DAX.replace('ref="a"', 'ref="c"'),
        "line 11: an edge must join tasks of the graph, got 'c'",
    ),
    "twice": (
        DAX.replace('id="b"', 'id="a"').replace('child ref="b"', 'child ref="a"'),
        "line 7: the name of a task must be unique, and line 3 has it, got 'a'",
    ),
    "cycle": (
        DAX.replace("</adag>", '<child ref="a"><parent ref="b"/></child></adag>'),
        "line 11: must have no cycle, got 'a -> b -> a'",
    ),
}


@pytest.mark.parametrize(("text", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_workflows(text: str, rule: str) -> None:
    assert told(parse, text)[0].startswith(rule)


BOMB = """<?xml version="1.0"?>
<!DOCTYPE adag [
  <!ENTITY a "aaaaaaaaaa">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<adag><job id="&b;" runtime="1"/></adag>
"""


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<!DOCTYPE adag SYSTEM "file:///etc/passwd"><adag/>',
        '<!DOCTYPE adag [<!ENTITY x SYSTEM "http://localhost/">]><adag>&x;</adag>',
    ],
)
def test_document_types_are_refused(text: str) -> None:
    (line,) = told(parse, text)
    assert line.endswith("must have no document type, got 'adag'")


def test_an_entity_that_nothing_declares() -> None:
    assert "is not valid XML: undefined entity" in told(parse, "<adag>&x;</adag>")[0]


def test_depth_is_no_limit() -> None:
    depth = 20_000
    text = "<adag>" + "<x>" * depth + "</x>" * depth + '<job id="a" runtime="1"/></adag>'
    assert len(parse(text).tasks) == 1


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("FILE f 8", "FILES f 8", "line 2: a line must begin with FILE, TASK, INPUTS, OUTPUTS or"),
        ("FILE f 8", "FILE f", "line 2: a line FILE must have 3 words, got 2"),
        ("FILE f 8", "FILE f x", "line 2: the size must be a finite number, got 'x'"),
        ("TASK a kind 1.5", "TASK a 1.5", "line 5: a line TASK must have 4 words, got 3"),
        ("TASK a kind 1.5", "TASK a kind -1", "line 5: the run time must not be negative"),
        ("INPUTS b f h", "INPUTS", "line 8: a line INPUTS must have 2 words, got 1"),
        ("INPUTS b f h", "INPUTS b f i", "line 8: the size of the file must be given, got 'i'"),
        ("EDGE a b", "EDGE a c", "line 10: an edge must join tasks of the graph, got 'c'"),
        ("EDGE a b", "EDGE a a", "line 10: must have no cycle, got 'a -> a'"),
    ],
)
def test_bad_lines(old: str, new: str, rule: str) -> None:
    assert told(parse_dag, DAG.replace(old, new))[0].startswith(rule)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "two.dax").write_text(DAX)
    (tmp_path / "two.dag").write_text(DAG)
    assert read(tmp_path / "two.dax") == read_dag(tmp_path / "two.dag") == parse(DAX, name="two")
    (tmp_path / "two.dag").write_text("TASK")
    path = tmp_path / "two.dag"
    assert told(read_dag, path) == [f"{path}: line 1: a line TASK must have 4 words, got 1"]


def dax(head: str, name: str) -> str:
    return f'{head}<adag><job id="{name}" runtime="3"/></adag>'


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "iso-8859-1"),
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16"),
        ('<?xml version="1.0" encoding="UTF-8"?>', "utf-8-sig"),
        ("", "utf-8"),
    ],
)
def test_encodings_that_xml_declares(head: str, encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "w.dax"
    file.write_bytes(dax(head, "Größe").encode(encoding))
    assert [task.id for task in read(file).tasks] == ["Größe"]
    assert parse(dax(head, "Größe")).tasks[0].id == "Größe"


def test_bytes_of_no_encoding(tmp_path: Path) -> None:
    file = tmp_path / "w.dax"
    file.write_bytes(dax("", "Größe").encode("iso-8859-1"))
    assert told(read, file)[0].startswith(f"{file}: line 1: is not valid XML: ")


def test_files_that_contradict_themselves() -> None:
    profile = '<profile namespace="pegasus" key="runtime">{}</profile>'
    job = '<adag><job id="a" runtime="1">' + profile + "</job></adag>"
    assert parse(job.format("1")).tasks[0].work == 1
    rule = "line 1: the run time of the job must be 1, as it is given before, got '7'"
    assert told(parse, job.format("7")) == [rule]
    nested = '<adag><job id="a" runtime="1"><job id="b" runtime="2"/></job></adag>'
    assert told(parse, nested)[0] == "line 1: a job must not stand within a job, got 'b'"
