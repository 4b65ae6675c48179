"""Brute force for task graphs: every order of the tasks on every choice of machines.

Shares nothing with what it judges: what sending takes is worked out here, from the fields of the
instance.
"""

from dlopt.arithmetic import exact


def transfer(instance, data, one, other):
    """Return how long data takes from one machine to another, as the docstrings say."""
    network, machines = instance.network, instance.machines
    if one == other and network.same_machine == "zero":
        return exact(0)
    delays = exact(machines[one].delay) + exact(machines[other].delay)
    lans = machines[one].lan, machines[other].lan
    if network.convention == "scheduler":
        local = [network if lan is None else network.lans[lan] for lan in lans]
        legs = sum(exact(hop.latency) + exact(data) / exact(hop.bandwidth) for hop in local)
        return legs + delays + wan(instance, data, *lans)
    pair = link(network.links, one, other)
    if pair is None and lans[0] == lans[1]:
        pair = network if lans[0] is None else network.lans[lans[0]]
    if pair is None:
        return delays + wan(instance, data, *lans)
    return delays + exact(pair.latency) + exact(data) / exact(pair.bandwidth)


def wan(instance, data, one, other):
    if one == other:
        return exact(0)
    way = link(instance.network.wan_links, one, other) or instance.network
    return exact(way.latency) + exact(data) / exact(way.bandwidth)


def link(links, one, other):
    forth = [item for item in links if (item.source, item.target) == (one, other)]
    back = [item for item in links if (item.target, item.source) == (one, other)]
    return (forth + back + [None])[0]


def gate(instance, graph, data, machine, inward):
    """Return how long a graph's input or output takes between its home and a machine."""
    if graph.lan is None:
        return exact(0)
    lan = instance.network.lans[instance.machines[machine].lan]
    leg = exact(lan.latency) + exact(instance.machines[machine].delay)
    ends = (graph.lan, instance.machines[machine].lan)
    way = wan(instance, data, *(ends if inward else ends[::-1]))
    return way + leg + exact(data) / exact(lan.bandwidth)


def cost(instance, graph, task, machine):
    task = instance.graphs[graph].tasks[task]
    if task.costs is None:
        return exact(task.work) / exact(instance.machines[machine].power)
    return None if task.costs[machine] is None else exact(task.costs[machine])


def best(instance, name="makespan"):
    """Return the optimum: of all plans in which no task could start earlier in its order.

    Every objective only grows with completions, so that one of these is optimal.
    """
    tasks = [(g, t) for g, graph in enumerate(instance.graphs) for t in range(len(graph.tasks))]
    least = None
    for ends in _plans(instance, tasks):
        value = objective_value(instance, ends, name)
        least = value if least is None or value < least else least
    return least


def objective_value(instance, complete, name):
    """Return the objective value of completions."""
    late = sum(
        graph.absolute_deadline is not None and end > exact(graph.absolute_deadline)
        for graph, end in zip(instance.graphs, complete, strict=True)
    )
    response = sum(end - exact(g.arrival) for g, end in zip(instance.graphs, complete, strict=True))
    values = {"makespan": max(complete), "tardy-graphs": late, "total-response-time": response}
    return values.get(name, (late, response))


def _plans(instance, tasks):
    """Yield the completions of all graphs, for every order and every choice of machines."""
    machines = range(len(instance.machines))
    seen = set()
    stack = [({}, {machine: exact(0) for machine in machines})]
    while stack:
        placed, free = stack.pop()
        if len(placed) == len(tasks):
            yield completions(instance, placed)
            continue
        for g, t in tasks:
            before = [e for e in instance.graphs[g].edges if e.target == t]
            if (g, t) in placed or any((g, e.source) not in placed for e in before):
                continue
            for machine in machines:
                length = cost(instance, g, t, machine)
                if length is None or not _same_lan(instance, g, placed, machine):
                    continue
                start = earliest(instance, g, t, machine, placed)
                if length:
                    start = max(start, free[machine])
                now = placed | {(g, t): (machine, start, start + length)}
                key = frozenset(now.items())
                if key not in seen:
                    seen.add(key)
                    then = {**free, machine: start + length} if length else free
                    stack.append((now, then))


def earliest(instance, g, t, machine, placed):
    """Return when a task could start on an idle machine; what is not placed does not count."""
    graph = instance.graphs[g]
    start = exact(graph.arrival)
    before = [edge for edge in graph.edges if edge.target == t]
    if not before:
        start += gate(instance, graph, graph.input, machine, True)
    for edge in before:
        if (g, edge.source) in placed:
            place, _, end = placed[g, edge.source]
            start = max(start, end + transfer(instance, edge.data, place, machine))
    return start


def _same_lan(instance, g, placed, machine):
    lans = {instance.machines[place].lan for (at, _), (place, _, _) in placed.items() if at == g}
    return not instance.graphs[g].one_lan or lans <= {instance.machines[machine].lan}


def completions(instance, placed):
    """Return when each graph is complete."""
    ends = []
    for g, graph in enumerate(instance.graphs):
        sources = {edge.source for edge in graph.edges}
        ends.append(
            max(
                placed[g, t][2]
                + (
                    0
                    if t in sources
                    else gate(instance, graph, graph.output, placed[g, t][0], False)
                )
                for t in range(len(graph.tasks))
            )
        )
    return ends
