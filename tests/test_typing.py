"""What type checkers see of the public interface, in a file of a user."""

from __future__ import annotations

import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import dlopt
from dlopt import registry
from dlopt.problems.validated_record import Record

ROOT = Path(__file__).parents[1]
SOLVED = "\n".join(
    f"""
from dlopt.problems import {stem}


def plan_of_{stem}(instance: {stem}.Instance) -> {stem}.Solution | None:
    result = dlopt.solve(instance)
    reveal_type(result)
    return result.solution
"""
    for stem in registry.stems()
)
SEQUENCES = """
import dlopt
from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster

nodes = Cluster(2, tau=[1, 2], chi=[3, 4])
iit.Instance(nodes, ready_times=[0, 1], load=3)
tasks = [admission.Task("a", 0, 1, 9)]
admission.Instance(nodes, tasks, ready_times=[0, 0])
multistage.Instance(nodes, tasks, [multistage.Reservation("r", 0, 4, 8, nodes=[0, 1])])
request = coreservation.Request("r", 0, 5, 9, 1, [coreservation.Part(6, benefit=[(0, 0), (1, 1)])])
coreservation.Instance([coreservation.Machine("m", [(0, 100), (50, 0)])], [request])
graph = dag.Graph("g", [dag.Task("a", costs=[2, None]), dag.Task("b", costs=[2, 1])], [])
dag.Instance([dag.Machine("m"), dag.Machine("n")], [graph])
bag.Instance(etc=[[4, 2], [3, None]])
iit.Solution([iit.Chunk(0, 1, 0, 1, 1, 2)])
"""
CLIENTS = """
from dlopt.client import AsyncClient, Client
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

task = Task("a", arrival=0, load=1, deadline=9)
client = Client("http://127.0.0.1:8321")
book = client.create("night", "admission", cluster=Cluster(2, tau=1, chi=3))
reveal_type(book)
reveal_type(book.why(task))
book.submit(task, if_match=3)
book.submit(task, if_mach=3)
book.cancel(3)
client.create("night", "admission", clusters=2)


async def talk(client: AsyncClient) -> None:
    book = await client.create("night", "admission", cluster=Cluster(2, tau=1, chi=3))
    reveal_type(book)
    reveal_type(await book.why(task))
    await book.submit(task, if_mach=3)
"""


MISTAKES = [
    ("for chunk in plan.chunks: print(chunk.lod)", 'has no attribute "lod"'),
    ('Instance(Cluster(1, tau=1, chi=1), ready_times="now", load=1)', "has incompatible type"),
    ("Instance(Cluster(1, tau=1, chi=1), load=1)", "ready_times"),
    ("dlopt.sovle(instance)", 'has no attribute "sovle"'),
]
MISTAKEN = """
import dlopt
from dlopt.problems.iit import Cluster, Instance

instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
plan = dlopt.solve(instance).solution
assert plan is not None
"""
FRONT_PAGE = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
MODULES = {
    "front_page": "\n".join(FRONT_PAGE),
    "solved": f"import dlopt\n{SOLVED}",
    "clients": CLIENTS,
    "sequences": SEQUENCES,
    **{f"mistake_{at}": f"{MISTAKEN}{line}\n" for at, (line, _) in enumerate(MISTAKES)},
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what mypy reports of each of the modules, with all checks on: one run for all.

    It runs as `make types` does, and so need not analyse again what that has analysed of dlopt.
    """
    folder = tmp_path_factory.mktemp("user")
    files = {name: folder / f"{name}.py" for name in MODULES}
    for name, file in files.items():
        file.write_text(MODULES[name])
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, files.values())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    *lines, summary = done.stdout.splitlines(keepends=True)
    assert f"(checked {len(files)} source files)" in summary
    found = dict.fromkeys(files, "")
    for line in lines:
        name = Path(line.partition(":")[0]).stem
        found[name] += line  # nothing is reported of other files
    return found


def test_the_examples_of_the_front_page_pass_all_checks(reports: dict[str, str]) -> None:
    assert len(FRONT_PAGE) >= 3
    assert reports["front_page"] == ""


def records_in(hint: object) -> set[type]:
    """Return the records that an annotation names, and those that their fields name."""
    found: set[type] = set()
    if isinstance(hint, type) and issubclass(hint, Record):
        found.add(hint)
        for inner in typing.get_type_hints(hint).values():
            found |= records_in(inner)
    for part in typing.get_args(hint):
        found |= records_in(part)
    return found


@pytest.mark.parametrize("stem", registry.stems())
def test_a_problem_exports_all_records_of_its_instances_and_solutions(stem: str) -> None:
    module = registry.problem(stem).module
    needed = records_in(module.Instance) | records_in(module.Solution)
    missing = {record.__name__ for record in needed} - set(module.__all__) - {"BestKnown", "Units"}
    assert not missing
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_the_package_lists_its_public_names_alone() -> None:
    assert set(dir(dlopt)) == set(dlopt.__all__)
    for name in dlopt.__all__:
        assert getattr(dlopt, name) is not None


def test_a_result_has_the_solutions_of_its_problem(reports: dict[str, str]) -> None:
    for stem in registry.stems():
        solution = f"dlopt.problems.{stem}.data.Solution"
        assert f'Revealed type is "dlopt.result.Result[{solution}]"' in reports["solved"]
    assert "error" not in reports["solved"]


def test_methods_of_both_clients_have_the_same_types(reports: dict[str, str]) -> None:
    assert re.findall('Revealed type is "(.*)"', reports["clients"]) == [
        "dlopt.client.blocking.RemoteBook",
        "dlopt.books.verb_results.Conflict | None",
        "dlopt.client.remote_book.AsyncRemoteBook",
        "dlopt.books.verb_results.Conflict | None",
    ]
    assert re.findall(r"clients.py:(\d+): error: .*\[(.*)\]", reports["clients"]) == [
        ("12", "call-arg"),
        ("13", "arg-type"),
        ("14", "call-arg"),
        ("21", "call-arg"),
    ]


def test_lists_are_accepted_where_records_hold_tuples(reports: dict[str, str]) -> None:
    assert reports["sequences"] == ""
    exec(SEQUENCES, {})


@pytest.mark.parametrize("at", range(len(MISTAKES)))
def test_mistakes_are_found(at: int, reports: dict[str, str]) -> None:
    assert MISTAKES[at][1] in reports[f"mistake_{at}"]
