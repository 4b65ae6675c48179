"""Relations between the fields of an instance of task graphs, and the text of faults.

What one field may hold by itself is tested in `test_wrong_values.py`.
"""

import pytest

from dlopt import io
from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.problems.dag import Instance, Placement, faults
from tests.problems.wrong_values import put

VALID = {
    "machines": [{"id": "m", "lan": 0}, {"id": "n", "lan": 1, "power": 2, "delay": 1}],
    "network": {
        "bandwidth": 2,
        "lans": [{"id": "x"}, {"id": "y", "bandwidth": 3}],
        "wan_links": [{"source": 0, "target": 1, "bandwidth": 1}],
        "links": [{"source": 1, "target": 0, "bandwidth": 1, "latency": 1}],
    },
    "graphs": [
        {
            "id": "g",
            "arrival": 2,
            "absolute_deadline": 9,
            "lan": 1,
            "input": 3,
            "one_lan": True,
            "tasks": [{"id": "a", "costs": [1, 2]}, {"id": "b", "costs": [3, None]}],
            "edges": [{"source": 0, "target": 1, "data": 4}],
        },
        {"id": "h", "tasks": [{"id": "a", "work": 1}]},
    ],
}
TASKS = ("graphs", 0, "tasks")
EDGES = ("graphs", 0, "edges")
ONLY = {"id": "g", "tasks": [{"id": "a"}]}
NO_LANS = {"machines": [{"id": "m"}, {"id": "n"}], "network": {}}


def test_the_valid_one():
    assert faults(VALID) == ()
    assert io.instance_from_data({"problem": "dag", "version": 1, **VALID}).graphs[1].arrival == 0


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("machines", 0, "id"), "", "machines[0].id: must not be empty, got ''"),
        (("machines", 1, "id"), "m", "machines[1].id: must be given to one machine only, got 'm'"),
        (
            ("machines", 0, "lan"),
            MISSING,
            "machines[0].lan: must be given, as it is for other machines",
        ),
        (("machines", 0, "lan"), 2, "machines[0].lan: must be one of the 2 LANs of the network"),
        (("graphs", 1, "id"), "g", "graphs[1].id: must be given to one graph only, got 'g'"),
        ((*TASKS, 1, "id"), "a", "graphs[0].tasks[1].id: must be given to one task only, got 'a'"),
        ((*TASKS, 1, "id"), "", "graphs[0].tasks[1].id: must not be empty, got ''"),
        ((*TASKS, 1, "costs"), MISSING, "graphs[0].tasks[1].work: must be given, or else costs"),
        ((*TASKS, 1, "work"), 1, "graphs[0].tasks[1].costs: must not be given together with work"),
        (
            (*TASKS, 1, "costs"),
            [None, None],
            "graphs[0].tasks[1].costs: must let the task run on a machine at least",
        ),
        (
            (*TASKS, 1, "costs"),
            [1],
            "graphs[0].tasks[1].costs: must have one entry for each of the 2 machines, got 1",
        ),
        ((*TASKS, 1, "costs"), [], "graphs[0].tasks[1].costs: must have one entry for each"),
        ((*EDGES, 0, "source"), 2, "graphs[0].edges[0].source: must be one of the 2 tasks"),
        ((*EDGES, 0, "target"), 2, "graphs[0].edges[0].target: must be one of the 2 tasks"),
        ((*EDGES, 0, "target"), 0, "graphs[0].edges[0].target: must differ from the source, got 0"),
        (
            EDGES,
            [{"source": 0, "target": 1}] * 2,
            "graphs[0].edges[1]: must be given once, got '0 -> 1'",
        ),
        (
            EDGES,
            [{"source": 0, "target": 1}, {"source": 1, "target": 0}],
            "graphs[0].edges: must not run in a cycle, got 'a -> b -> a'",
        ),
        (
            ("graphs", 0, "absolute_deadline"),
            1,
            "graphs[0].absolute_deadline: must not lie before the arrival, 2, got 1",
        ),
        (("graphs", 0, "lan"), 2, "graphs[0].lan: must be one of the 2 LANs of the network"),
        (
            ("graphs", 0, "lan"),
            None,
            "graphs[0].input: must be 0 where no lan is given to get it from, got 3",
        ),
        (("graphs", 1, "output"), 3, "graphs[1].output: must be 0 where no lan is given"),
        (("network", "convention"), "scheduler", "network.links: must be empty where data goes by"),
        (("network", "links", 0, "target"), 1, "network.links[0].target: must differ from the"),
        (
            ("network", "links", 0, "target"),
            2,
            "network.links[0].target: must be one of the 2 mach",
        ),
        (
            ("network", "links"),
            [{"source": 0, "target": 1, "bandwidth": 1}] * 2,
            "network.links[1]: must be given once, got '0 -> 1'",
        ),
        (
            ("network", "wan_links", 0, "target"),
            5,
            "network.wan_links[0].target: must be one of the 2 LANs (0-based), got 5",
        ),
    ],
)
def test_a_fault_and_its_text(path, value, told):
    found = faults(put(VALID, path, value))
    assert any(str(fault).startswith(told) for fault in found), [str(fault) for fault in found]


def test_a_machine_on_which_nothing_can_run():
    data = {
        "machines": [{"id": "m"}, {"id": "n"}],
        "graphs": [{"id": "g", "tasks": [{"id": "a", "costs": [1, None]}]}],
    }
    assert [str(f) for f in faults(data)] == [
        "machines[1]: must be able to run a task at least, got 'n'"
    ]
    data["graphs"].append({"id": "h", "tasks": [{"id": "a", "work": 1}]})
    assert faults(data) == ()


def test_one_lan_that_is_none_or_cannot():
    apart = put(VALID, (*TASKS, 0, "costs"), [None, 2])
    told = "graphs[0].one_lan: must be false where no LAN can run all tasks of the graph, got True"
    assert [str(fault) for fault in faults(apart)] == [told]
    graph = {"id": "g", "one_lan": True, "tasks": [{"id": "a", "work": 1}]}
    told = "graphs[0].one_lan: must be false without LANs, got True"
    assert [str(fault) for fault in faults(NO_LANS | {"graphs": [graph]})] == [told]


def test_a_home_in_a_lan_without_machines_in_lans():
    graph = {"id": "g", "lan": 0, "tasks": [{"id": "a", "work": 1}]}
    data = NO_LANS | {"network": {"lans": [{}]}, "graphs": [graph]}
    told = "graphs[0].lan: must not be given where no machine is in a LAN, got 0"
    assert [str(fault) for fault in faults(data)] == [told]


def test_every_fault_at_once():
    data = put(put(VALID, ("machines", 0, "lan"), 7), (*TASKS, 0, "costs"), [1, 2, 3])
    paths = [fault.path for fault in faults(data)]
    assert paths == ["graphs[0].tasks[0].costs", "machines[0].lan"]


def test_what_is_wrong_in_one_part_hides_no_fault_of_another():
    strange = {"machines": 3, "network": [], "graphs": [3, {"id": "g", "tasks": [3]}, {"id": "h"}]}
    assert [str(fault) for fault in faults(strange)] == [
        "machines: must be a list, got 3",
        "graphs[0]: must be an object with named fields, got 3",
        "graphs[1].tasks[0]: must be an object with named fields, got 3",
        "graphs[2].tasks: is missing",
        "network: must be an object with named fields, got []",
    ]
    with pytest.raises(InvalidInstanceError, match=r"graphs\[0\].tasks\[0\].work: must be given"):
        Instance.from_data({"machines": [{"id": "m"}], "graphs": [ONLY]})


def test_a_placement_may_have_what_only_the_checker_reports():
    assert Placement(5, 5, 5, -1.5).start == -1.5
