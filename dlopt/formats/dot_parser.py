"""Parser of DOT, the language of Graphviz, to nodes and edges with attributes.

It reads the whole grammar of directed graphs (https://graphviz.org/doc/info/lang.html), in time
linear in the length of a text and to any depth; numbers may have an exponent, as Python writes
them. A number that runs into a name, which Graphviz splits with a warning, is refused. (Other
parsers take minutes for a hundred thousand nodes, and do not report the line of a node.)
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NoReturn, TypeAlias

from dlopt.errors import MISSING, NotApplicableError
from dlopt.formats.task_graph import TaskGraphBuilder

Attributes: TypeAlias = dict[str, str]

_TOKEN = re.compile(
    r"""
      (?P<blank>   (?: \s+ | //[^\n]* | /\*.*?\*/ | ^\#[^\n]* )+ )
    | (?P<name>    [^\W\d]\w* | -?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?(?![\w.]) )
    | (?P<glued>   -?[\d.][\w.]* )
    | (?P<quoted>  "(?:[^"\\]|\\.)*" )
    | (?P<mark>    -> | -- | [{}\[\];,=:+] )
    | (?P<html>    < )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_PLAIN = re.compile(r"[A-Za-z_]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)", re.ASCII)
MAX_GROUPED_EDGES = 1_000_000
"""Largest total number of edges between groups: two short lines can define billions."""
_KEYWORDS = frozenset({"strict", "graph", "digraph", "node", "edge", "subgraph"})


def parse_dot(text: str, builder: TaskGraphBuilder) -> DotGraph:
    """Parse a text in DOT.

    Raises
    ------
    InvalidInstanceError
        With the line of the first syntax error, and the faults that the builder has already.

    Examples
    --------
    >>> graph = parse_dot("digraph { node [w=1]; a -> {b c} [x=2] }", TaskGraphBuilder())
    >>> [(edge.source, edge.target, edge.attributes) for edge in graph.edges]
    [('a', 'b', {'x': '2'}), ('a', 'c', {'x': '2'})]
    >>> graph.nodes["b"].attributes
    {'w': '1'}
    """
    return _Parser(_Tokens(text, builder)).graph()


@dataclass(slots=True)
class DotNode:
    """A node: the line of its first occurrence, and its attributes, keys in lower case."""

    line: int
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class DotEdge:
    """An edge: the line of its statement, and its attributes, keys in lower case."""

    line: int
    source: str
    target: str
    attributes: Attributes


@dataclass(slots=True)
class DotGraph:
    """A parsed graph."""

    name: str = ""
    nodes: dict[str, DotNode] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)
    facts: Attributes = field(default_factory=dict)


@dataclass(slots=True)
class _OpenGraph:
    """A graph or subgraph whose closing brace has not been read."""

    node: Attributes
    edge: Attributes
    members: dict[str, None] = field(default_factory=dict)
    chain: list[list[str]] = field(default_factory=list)
    line: int = 0


class _Tokens:
    """The tokens of a text with their lines; text that is no token is a fault."""

    def __init__(self, text: str, builder: TaskGraphBuilder) -> None:
        self.builder = builder
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._found = self._scan(text)
        self.offset = self._at = 0
        self._kind = self._text = ""
        self.mark = ""  # the next token, if it is a mark or a keyword
        self._next()

    @property
    def line(self) -> int:
        """The line of the last token read."""
        return bisect_left(self._ends, self.offset) + 1

    def _scan(self, text: str) -> Iterator[tuple[str, str, int]]:
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            kind = match.lastgroup if match else None
            if match is None or kind is None:
                self.offset = at
                self.fail(text[at : at + 12].split("\n")[0], "is not valid DOT")
            end = match.end()
            if kind == "glued":
                self.offset = at
                self.fail(match[0], "a number must not run into a name: what is both has quotes")
            if kind == "html":
                end = self._closing(text, at)
            word = text[at:end]
            if kind == "name" and word.lower() in _KEYWORDS:
                yield "mark", word.lower(), at
            elif kind != "blank":
                yield kind, word, at
            at = end

    def _closing(self, text: str, at: int) -> int:
        depth = 0
        for match in re.compile("[<>]").finditer(text, at):
            depth += 1 if match[0] == "<" else -1
            if depth == 0:
                return match.end()
        self.offset = at
        return self.fail("<", "the bracket is never closed")

    def fail(self, value: object, rule: str) -> NoReturn:
        self.builder.fault(self.line, value, rule)
        self.builder.fail()

    def ended(self) -> bool:
        return self._kind == "end"

    def take(self, mark: str) -> bool:
        """Consume the next token if it is this mark or keyword."""
        if self.mark != mark:
            return False
        self._next()
        return True

    def need(self, mark: str, where: str) -> None:
        if not self.take(mark):
            kind, text = self._next()
            self.fail(MISSING if kind == "end" else text, f"{mark!r} must stand {where}")

    def name(self) -> str:
        """Consume a name, a number or a text."""
        kind, text = self._next()
        if kind in ("mark", "end"):
            self.fail(MISSING if kind == "end" else text, "a name must stand here")
        if kind != "quoted":
            return text
        parts = [_unquoted(text)]
        while self.take("+"):
            kind, text = self._next()
            if kind != "quoted":
                self.fail(text, "a text in quotes must follow the plus")
            parts.append(_unquoted(text))
        return "".join(parts)

    def _next(self) -> tuple[str, str]:
        """Return the kind and text of the next token, and look ahead by one."""
        taken = self._kind, self._text
        self.offset = self._at
        self._kind, self._text, self._at = next(self._found, ("end", "", self._at))
        self.mark = self._text if self._kind == "mark" else ""
        return taken


class _Parser:
    def __init__(self, tokens: _Tokens) -> None:
        self.tokens = tokens
        self.drawn = DotGraph()
        self.scopes: list[_OpenGraph] = []
        self.strict = False
        self.first_edges: dict[tuple[str, str], int] = {}
        self.grouped_edges = 0

    def graph(self) -> DotGraph:
        tokens = self.tokens
        if tokens.ended():
            tokens.fail(MISSING, "must hold a graph")
        self.strict = tokens.take("strict")
        if tokens.mark == "graph":
            tokens.take("graph")
            tokens.fail("graph", "the graph must be directed: a digraph")
        tokens.need("digraph", "at the beginning")
        if tokens.mark != "{":
            self.drawn.name = tokens.name()
        tokens.need("{", "before what the graph holds")
        self.scopes.append(_OpenGraph({}, {}))
        while self.scopes:
            self.statement(self.scopes[-1])
        if not tokens.ended():
            tokens.need("the end", "after the graph")
        return self.drawn

    def statement(self, scope: _OpenGraph) -> None:
        """Parse a statement; one that opens a subgraph ends when that is closed."""
        tokens = self.tokens
        if tokens.ended():
            tokens.need("}", "at the end of what is open")
        mark = tokens.mark
        if mark in (";", ",") and not scope.chain:
            tokens.take(mark)
        elif mark in ("{", "subgraph"):
            self.open(scope)
        elif mark == "}":
            self.close(scope)
        elif mark in ("graph", "node", "edge") and not scope.chain:
            tokens.take(mark)
            into = {"graph": {}, "node": scope.node, "edge": scope.edge}[mark]
            if mark == "graph" and len(self.scopes) == 1:
                into = self.drawn.facts
            into |= self.attributes()
        else:
            self.node_or_edge(scope)

    def open(self, scope: _OpenGraph) -> None:
        if not scope.chain:
            scope.line = self.tokens.line
        if self.tokens.take("subgraph") and self.tokens.mark != "{":
            self.tokens.name()
        self.tokens.need("{", "before what the subgraph holds")
        self.scopes.append(_OpenGraph(dict(scope.node), dict(scope.edge)))

    def close(self, scope: _OpenGraph) -> None:
        if scope.chain:
            self.tokens.take("}")
            self.tokens.fail("}", "a node must follow the arrow")
        self.tokens.take("}")
        self.scopes.pop()
        if self.scopes:
            outer = self.scopes[-1]
            outer.members |= scope.members
            self.continue_chain(outer, list(scope.members))

    def node_or_edge(self, scope: _OpenGraph) -> None:
        tokens = self.tokens
        name = tokens.name()
        if not scope.chain:
            scope.line = tokens.line
            if tokens.take("="):
                value = tokens.name()
                if len(self.scopes) == 1:
                    self.drawn.facts[name] = value
                return
        while tokens.take(":"):
            tokens.name()  # a port says where an arrow ends in the picture
        if name not in self.drawn.nodes:
            self.drawn.nodes[name] = DotNode(tokens.line, dict(scope.node))
        scope.members[name] = None
        self.continue_chain(scope, [name])

    def continue_chain(self, scope: _OpenGraph, names: list[str]) -> None:
        """Continue after a node or subgraph: with an arrow, or the attributes of the statement."""
        scope.chain.append(names)
        if self.tokens.mark == "--":
            self.tokens.take("--")
            self.tokens.fail("--", "edges of a digraph are written ->")
        if self.tokens.take("->"):
            return
        given = self.attributes()
        chain, scope.chain = scope.chain, []
        if len(chain) == 1:
            if len(names) == 1:
                self.drawn.nodes[names[0]].attributes |= given
            return
        attributes = scope.edge | given
        for sources, targets in pairwise(chain):
            if len(sources) > 1 or len(targets) > 1:
                self.grouped_edges += len(sources) * len(targets)
            if self.grouped_edges > MAX_GROUPED_EDGES:
                rule = f"arrows between groups must draw at most {MAX_GROUPED_EDGES:,} edges"
                self.tokens.fail(f"{self.grouped_edges:,} edges", rule)
            for source in sources:
                for target in targets:
                    self.edge(DotEdge(scope.line, source, target, attributes))

    def edge(self, edge: DotEdge) -> None:
        """Add an edge; in a strict graph a repeated one updates the attributes of the first."""
        ends = (edge.source, edge.target)
        first = self.first_edges.setdefault(ends, len(self.drawn.edges)) if self.strict else None
        if first is None or first == len(self.drawn.edges):
            self.drawn.edges.append(edge)
        else:
            old = self.drawn.edges[first]
            self.drawn.edges[first] = replace(old, attributes=old.attributes | edge.attributes)

    def attributes(self) -> Attributes:
        """Parse any number of attribute lists."""
        tokens = self.tokens
        found: Attributes = {}
        while tokens.take("["):
            while not tokens.take("]"):
                key = tokens.name().lower()
                tokens.need("=", f"after the name of an attribute, {key!r}")
                value = tokens.name()
                if found.get(key, value) != value:
                    rule = f"the attribute {key!r} must not be given twice, with {found[key]!r}"
                    tokens.fail(value, f"{rule} before")
                found[key] = value
                if tokens.mark in (";", ","):
                    tokens.take(tokens.mark)
        return found


def quoted(text: str) -> str:
    """Return a name or text as a DOT token.

    Raises
    ------
    NotApplicableError
        If it cannot be written: a backslash before a quote or at the end.

    Examples
    --------
    >>> print(quoted("task_1"), quoted("task 1"))
    task_1 "task 1"
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _KEYWORDS:
        return text
    quoted = '"' + text.replace('"', '\\"') + '"'
    match = _TOKEN.fullmatch(quoted)
    if match is None or match["quoted"] is None or _unquoted(quoted) != text:
        raise NotApplicableError(f"DOT has no way to write {text!r}")
    return quoted


def _unquoted(text: str) -> str:
    """Return the text of a quoted token; a backslash is literal, except before a quote."""
    return re.sub(r'\\("|\n)', lambda match: match[1].strip("\n"), text[1:-1])
