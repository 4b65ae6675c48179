"""A task graph of your own, from networkx.

Nodes have `work`, edges have `data`. Two machines and a network with latency are added by
`replace`.
"""

from dataclasses import replace

import networkx as nx

import dlopt
from dlopt.problems.dag import Machine, Network

graph = nx.DiGraph()
for task, work in {"load": 4, "left": 9, "right": 7, "join": 3}.items():
    graph.add_node(task, work=work)
for source, target in (("load", "left"), ("load", "right"), ("left", "join"), ("right", "join")):
    graph.add_edge(source, target, data=6)
instance = replace(
    dlopt.dag_from_networkx(graph, machines=2),
    machines=(Machine("slow"), Machine("fast", power=2)),
    network=Network(bandwidth=3, latency=1),
)
result = dlopt.solve(instance)
names = list(graph)
for place in result.solution.placements:
    print(names[place.task], "on", instance.machines[place.machine].id, "from", place.start)
print("makespan", result.value)
dlopt.plot(instance, result, "graph_of_networkx.svg")
