"""Hypothesis strategies for small exact task graphs."""

from fractions import Fraction

from hypothesis import strategies as st

from dlopt.problems.dag import Edge, Graph, Instance, Lan, Link, Machine, Network, Task

costs = st.builds(Fraction, st.integers(0, 12), st.sampled_from([1, 1, 1, 2, 3]))
positive = st.builds(Fraction, st.integers(1, 6), st.sampled_from([1, 1, 2]))
no_or_a_date = st.none() | st.integers(3, 30)


@st.composite
def networks(draw, machines, *, lans=0):
    """Return a network for so many machines in so many LANs (0: none)."""
    convention = draw(st.sampled_from(["direct", "direct", "scheduler"]))

    def links(ends):
        pairs = [(a, b) for a in range(ends) for b in range(ends) if a != b]
        some = draw(st.lists(st.sampled_from(pairs), max_size=2, unique=True)) if pairs else []
        return tuple(Link(a, b, draw(positive), draw(costs)) for a, b in some)

    return Network(
        convention,
        draw(st.sampled_from(["zero", "zero", "counted"])),
        draw(positive),
        draw(st.sampled_from([0, 0, 1, Fraction(1, 2)])),
        tuple(Lan(f"l{k}", draw(positive), draw(st.sampled_from([0, 1]))) for k in range(lans)),
        links(lans) if draw(st.booleans()) else (),
        links(machines) if convention == "direct" and draw(st.booleans()) else (),
    )


@st.composite
def graphs(draw, name, machines, *, most=5, lans=0, plain=False):
    """Return a graph; with `plain`, only tasks, edges, arrival and deadline."""
    count = draw(st.integers(1, most))
    by_work = draw(st.booleans())
    tasks = []
    for index in range(count):
        if by_work:
            tasks.append(Task(f"t{index}", work=draw(costs)))
        else:
            row = [draw(costs) for _ in range(machines)]
            gaps = draw(st.lists(st.integers(0, machines - 1), max_size=machines - 1))
            kept = [None if place in gaps and not plain else c for place, c in enumerate(row)]
            tasks.append(Task(f"t{index}", costs=tuple(kept)))
    order = draw(st.permutations(range(count)))
    pairs = [(a, b) for at, a in enumerate(order) for b in order[at + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=6, unique=True)) if pairs else []
    arrival = draw(st.sampled_from([0, 0, 1, Fraction(5, 2)]))
    due = draw(no_or_a_date)
    home = draw(st.none() | st.integers(0, lans - 1)) if lans and not plain else None
    return Graph(
        name,
        tuple(tasks),
        tuple(Edge(a, b, draw(costs)) for a, b in chosen),
        arrival,
        due,
        home,
        draw(costs) if home is not None else 0,
        draw(costs) if home is not None else 0,
    )


@st.composite
def dag(draw, *, machines=3, tasks=5, several=2, plain=False):
    """Return an instance in exact numbers; with `plain`, on a uniform network without LANs."""
    count = draw(st.integers(1, machines))
    lans = draw(st.sampled_from([0, 0, 1, 2])) if not plain else 0
    made = tuple(
        Machine(
            f"m{k}",
            draw(positive),
            draw(st.integers(0, lans - 1)) if lans else None,
            draw(st.sampled_from([0, 0, 1])) if not plain else 0,
        )
        for k in range(count)
    )
    network = Network() if plain else draw(networks(count, lans=lans))
    found, left = [], tasks
    for index in range(draw(st.integers(1, several))):
        if left:
            graph = draw(graphs(f"g{index}", count, most=left, lans=lans, plain=plain))
            left -= len(graph.tasks)
            found.append(graph)
    return Instance(
        made, tuple(_runnable(draw, made, graph) for graph in _busy(made, found)), network
    )


@st.composite
def one_way(draw):
    """Return a small instance with a WAN or machine links whose two directions differ."""
    two = st.tuples(positive, positive, costs, costs).filter(
        lambda four: (four[0], four[2]) != (four[1], four[3])
    )

    def both(one, other):
        there, back, late, later = draw(two)
        return Link(one, other, there, late), Link(other, one, back, later)

    wan = draw(st.booleans())
    count = draw(st.integers(2, 3))
    machines = tuple(
        Machine(f"m{k}", draw(positive), k % 2 if wan else None, draw(st.sampled_from([0, 1])))
        for k in range(count)
    )
    convention = draw(st.sampled_from(["direct", "scheduler"])) if wan else "direct"
    network = Network(
        convention,
        draw(st.sampled_from(["zero", "counted"])),
        draw(positive),
        draw(st.sampled_from([0, 1])),
        tuple(Lan(f"l{k}", draw(positive), draw(st.sampled_from([0, 1]))) for k in range(2 * wan)),
        both(0, 1) if wan else (),
        () if wan else both(0, count - 1),
    )
    tasks, lans = draw(st.integers(2, 4)), 2 * wan
    graph = draw(graphs("g", count, most=tasks, lans=lans))
    return Instance(machines, (_busy(machines, [graph])[0],), network)


def _busy(machines, graphs):
    """Let every machine run the first task, if it could run none."""
    tasks = [task for graph in graphs for task in graph.tasks]
    if any(task.work is not None for task in tasks):
        return graphs
    idle = [k for k in range(len(machines)) if all(task.costs[k] is None for task in tasks)]
    row = tuple(1 if k in idle else cost for k, cost in enumerate(tasks[0].costs))
    first = Task(tasks[0].id, costs=row)
    return [_with(graphs[0], tasks=(first, *graphs[0].tasks[1:])), *graphs[1:]]


def _runnable(draw, machines, graph):
    """Let the graph stay in one LAN now and then, if there is one that can run it."""
    lans = {machine.lan for machine in machines} - {None}
    able = any(
        all(
            task.costs is None
            or any(task.costs[k] is not None for k, m in enumerate(machines) if m.lan == lan)
            for task in graph.tasks
        )
        for lan in lans
    )
    return _with(graph, one_lan=True) if able and draw(st.booleans()) else graph


def _with(graph, **changed):
    names = graph.__dataclass_fields__
    return Graph(**{name: getattr(graph, name) for name in names} | changed)
