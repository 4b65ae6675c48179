"""simulate, and what feeds it: generate admission, convert --to admission."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from dlopt.cli import progress as progress_bars
from dlopt.generation.paper_workloads import mamat4
from dlopt.io import read
from dlopt.problems.admission import Instance
from dlopt.simulation import simulate
from tests.cli.conftest import INSTANCES, Command, file_of
from tests.cli.test_cli_process import PATIENCE, start

STREAMS = INSTANCES.parent / "admission"
FEW = ("--set", "horizon=300000", "--set", "nodes=64", "--processes", "1")
LOG = """; Computer: Toy
; MaxProcs: 4
1 0 -1 10 3 -1 -1 3 30 -1 1 1 1 -1 -1 -1 -1 -1
2 5 2 20 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1
3 7 2 0 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1
4 9 2 -1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1
"""
# Says on standard error when the work has begun.
TELLING = """
import sys
from dlopt.cli import main
from dlopt.simulation import MODULE

def tell(*arguments):
    sys.stderr.write("working\\n")
    sys.stderr.flush()
    return begun(*arguments)

begun, MODULE.BEGUN = MODULE.BEGUN, tell
main()
"""
STREAM = {
    "problem": "admission",
    "version": 1,
    "name": "three",
    "cluster": {"nodes": 2, "tau": 1, "chi": 1},
    "tasks": [
        {"id": "a", "arrival": 0, "load": 3, "deadline": 4},
        {"id": "b", "arrival": 1, "load": 3, "deadline": 7},
        {"id": "c", "arrival": 2, "load": 3, "deadline": 7},
    ],
}


# simulate


def test_the_table_and_the_json_tell_the_same(dlopt: Command) -> None:
    flags = ("--methods", "edf-opr-mn, edf-opr-an", "--loads", "0.3,0.9", "--seeds", "3", *FEW)
    done = dlopt("simulate", "cluster", *flags)
    points = dlopt("simulate", "cluster", *flags, "--json").json["points"]
    lines = [line.split() for line in done.out.splitlines() if " edf-" in line]
    assert "mamat4, 3 seeds" in done.out and done.err == ""
    assert [(p["system_load"], p["method"]) for p in points] == [
        (load, name) for load in (0.3, 0.9) for name in ("edf-opr-mn", "edf-opr-an")
    ]
    for words, point in zip(lines, points, strict=True):
        ratio = point["reject_ratio"]
        assert words[:2] == [f"{point['system_load']:g}", point["method"]]
        assert words[2:5] == [f"{ratio['mean']:.3f}", "±", f"{ratio['ci95']:.3f}"]
        assert words[-1] == f"{point['realised_load']['mean']:.3f}"
        for seed, outcome in enumerate(point["outcomes"]):
            stream = mamat4(system_load=point["system_load"], horizon=300_000, nodes=64, seed=seed)
            assert outcome["rejected"] == simulate(stream, point["method"]).rejected
            assert outcome["violations"] is None


def test_one_load_and_one_method_are_the_default(dlopt: Command) -> None:
    done = dlopt("simulate", "cluster", "--seeds", "1", "--seed", "4", *FEW, "--json")
    (point,) = done.json["points"]
    assert (point["system_load"], point["method"]) == (0.5, "edf-iit-2")
    assert point["reject_ratio"]["ci95"] is None
    assert point["outcomes"][0]["workload"] == "mamat4-0.5-4"
    dlopt("simulate", "cluster", "--seeds", "1", "--load", "1/2", "--set", "loads=absolute", *FEW)


def test_a_workload_without_a_load(dlopt: Command) -> None:
    flags = ("--workload", "waiting", "--set", "tasks=20", "--seeds", "2", "--processes", "1")
    done = dlopt("simulate", "cluster", *flags)
    (line,) = [line.split() for line in done.out.splitlines() if "edf-iit-2" in line]
    assert line[:2] == ["-", "edf-iit-2"] and line[-1] == "-"


def test_check_holds_the_plans_against_the_rules(dlopt: Command) -> None:
    flags = ("--load", "0.8", "--seeds", "2", *FEW, "--check")
    good = dlopt("simulate", "cluster", "--method", "edf-opr-mn", *flags)
    assert good.err == "edf-opr-mn: 0 violations, verified: tol 1e-9\n"
    both = dlopt("simulate", "cluster", "--methods", "mcdf,edf-opr-mn:literal", *flags, code=1)
    assert both.err.startswith("mcdf: 0 violations, verified: tol 1e-9\nedf-opr-mn:literal: ")
    assert "violations, verified" in both.err
    data = dlopt("simulate", "cluster", "-m", "edf-opr-mn:literal", *flags, "--json", code=1).json
    assert sum(outcome["violations"] for outcome in data["points"][0]["outcomes"]) > 0


def test_without_admission_control_the_misses_are_told(dlopt: Command) -> None:
    flags = ("--workload", "lin5", "--set", "horizon=30000", "--method", "fifo-anna")
    (point,) = dlopt("simulate", "cluster", *flags, "--processes", "1", "--json").json["points"]
    assert point["reject_ratio"]["mean"] == 0 and point["miss_ratio"]["mean"] > 0
    assert sum(outcome["misses"] for outcome in point["outcomes"]) > 0


def test_an_instance_file(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "s.json", STREAM)
    methods = ("--methods", "edf-opr-an,fifo-anna")
    done = dlopt("simulate", "cluster", "--file", file, *methods, "--check")
    assert done.out.lstrip().partition("\n")[0] == "s.json" and "±" not in done.out
    points = dlopt("simulate", "cluster", "--file", file, *methods, "--json").json["points"]
    assert [point["outcomes"][0]["accepted"] for point in points] == [2, 3]
    assert [point["outcomes"][0]["workload"] for point in points] == ["three", "three"]


def test_a_picture(dlopt: Command, tmp_path: Path) -> None:
    flags = ("--methods", "edf-opr-mn,edf-epr-mn", "--loads", "0.2,0.6", "--seeds", "2", *FEW)
    dlopt("simulate", "cluster", *flags, "--plot", "f.svg")
    text = (tmp_path / "f.svg").read_text()
    assert "edf-epr-mn" in text and text.startswith("<?xml")


def test_a_picture_of_a_workload_without_a_load_stands_over_the_methods(
    dlopt: Command, tmp_path: Path
) -> None:
    flags = ("--workload", "waiting", "--set", "tasks=20", "--seeds", "2", "--processes", "1")
    dlopt("simulate", "cluster", *flags, "--methods", "mcdf,edf-opr-mn", "--plot", "f.svg")
    text = (tmp_path / "f.svg").read_text()
    assert "<!-- method -->" in text and "<!-- system load -->" not in text
    assert text.count("<!-- mcdf -->") == 2  # below the axis, and in the legend


def test_pictures_of_a_file(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "s.json", STREAM)
    dlopt("simulate", "cluster", "--file", file, "--plot", "one.svg")
    schedule = (tmp_path / "one.svg").read_text()
    assert "<!-- node 1 -->" in schedule and "edf-iit-2, feasible" in schedule
    literal = ("--method", "edf-opr-mn:literal", "--plot", "literal.svg")
    dlopt("simulate", "cluster", "--file", file, *literal)
    assert "edf-opr-mn:literal, " in (tmp_path / "literal.svg").read_text()
    flags = ("--methods", "edf-opr-an,fifo-anna", "--plot", "two.svg")
    dlopt("simulate", "cluster", "--file", file, *flags)
    curves = (tmp_path / "two.svg").read_text()
    for text in ("three", "3 tasks on 2 nodes", "tasks rejected", "tasks waiting", "fifo-anna"):
        assert f"<!-- {text} -->" in curves


def test_a_file_may_start_from_a_busy_cluster(dlopt: Command, tmp_path: Path) -> None:
    file = STREAMS / "as-it-stands.json"
    done = dlopt("simulate", "cluster", "--file", file, "--check", "--plot", "one.svg")
    assert done.err == "edf-iit-2: 0 violations, verified: tol 1e-9\n"
    assert "<!-- now 4 -->" in (tmp_path / "one.svg").read_text()
    flags = ("--methods", "edf-iit-2,edf-opr-mn", "--plot", "two.svg")
    points = dlopt("simulate", "cluster", "--file", file, *flags, "--json").json["points"]
    assert [point["outcomes"][0]["promised"] for point in points] == [2, 2]
    assert "2 tasks on 2 nodes, 2 accepted before" in (tmp_path / "two.svg").read_text()


def test_progress_is_shown_on_a_terminal(dlopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert "mamat4" in dlopt("simulate", "cluster", "--seeds", "2", *FEW).out
    with progress_bars.bar() as progress:
        assert progress is not None
        progress(1, 2)


BAD = {
    "no workload": (
        ["--workload", "mamat9"],
        "no workload 'mamat9' (did you mean mamat5 or mamat4? known: mamat4",
    ),
    "method": (["--method", "edf-xyz"], "unknown algorithm 'edf-xyz'"),
    "parameter": (["--set", "colour=red"], "workload mamat4 has no parameter 'colour'"),
    "value": (["--set", "dc_ratio=0"], "dc_ratio must be a positive number, got 0"),
    "type": (["--set", "tau=thick"], "tau=thick does not fit"),
    "load": (["--load", "none"], "a system load is a positive number, not 'none'"),
    "negative load": (["--loads", "0.1,-1"], "a system load is a positive number, not '-1'"),
    "no load": (["--loads", ","], "--loads names no load"),
    "loads": (["--loads", "1", "--load", "1"], "--load and --loads do not go together"),
    "methods": (["--methods", "a", "--method", "a"], "--method and --methods do not go together"),
    "no method": (["--methods", ","], "--methods names no method"),
    "twice": (["--methods", "mcdf,mcdf"], "--methods names a method twice"),
    "seeds": (["--seeds", "0"], "--seeds must be positive, got 0"),
    "time limit": (["--time-limit", "0"], "(--time-limit) must be a positive, finite number"),
    "processes": (["--processes", "0"], "processes must be positive, got 0"),
    "picture": (["--plot", "f.txt"], "must end in .svg, .png, .pdf"),
    "no system load": (["--workload", "waiting", "--load", "1"], "waiting has no system load"),
    "no file": (["--file", "no.json"], "no.json: cannot be read"),
    "promise": (
        ["--file", STREAMS / "as-it-stands.json", "--method", "fifo-epr-an"],
        "fifo-epr-an finds no plan that keeps the promise to b",
    ),
    "no promise": (
        ["--file", STREAMS / "as-it-stands.json", "--method", "fifo-anna"],
        "fifo-anna looks at no deadline; the cluster has promised some",
    ),
    "stem": (
        ["--file", INSTANCES / "four-nodes.json"],
        "admission and multistage are simulated, not iit",
    ),
    "stem before method": (
        ["--file", INSTANCES / "four-nodes.json", "--method", "opr"],
        "admission and multistage are simulated, not iit",
    ),
    "file's method": (["--file", "s.json", "--method", "exact"], "exact is no online algorithm"),
    **{
        f"file and {option}": (["--file", "s.json", f"--{option}", value], "do not go together")
        for option, value in {
            "workload": "mamat4",
            "load": "1",
            "loads": "1",
            "seeds": "1",
            "set": "a=1",
            "processes": "1",
        }.items()
    },
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message(case: str, dlopt: Command, tmp_path: Path) -> None:
    file_of(tmp_path / "s.json", STREAM)
    arguments, message = BAD[case]
    done = dlopt("simulate", "cluster", *arguments, code=2)
    assert done.out == "" and done.err.startswith("error: ") and message in done.err
    assert done.err.count("\n") == 1


def test_help_is_shown_without_a_command(dlopt: Command) -> None:
    assert "cluster" in dlopt("simulate", code=None).out + dlopt("simulate", "--help").out


ENDED = {
    "Ctrl-C": (signal.SIGINT, 130, "interrupted\n"),
    "SIGTERM": (signal.SIGTERM, 143, "terminated\n"),
    "SIGKILL": (signal.SIGKILL, -signal.SIGKILL, ""),
}


@pytest.mark.parametrize(
    ("processes", "module", "begun"),
    [(1, "replications", "_run_replication"), (2, "process_pool", "as_completed")],
)
@pytest.mark.parametrize("how", ENDED)
def test_whatever_ends_it_ends_all_at_once(
    processes: int, module: str, begun: str, how: str
) -> None:
    """Processes of the pool would hold the pipes open, and reading them would not end."""
    work = ("--seeds", "4", "--set", "horizon=5e9", "--processes", processes)  # for hours
    command = [sys.executable, "-c", TELLING.replace("MODULE", module).replace("BEGUN", begun)]
    running = start("simulate", "cluster", *work, command=command)
    assert running.stderr is not None and running.stderr.readline() == "working\n"
    number, code, message = ENDED[how]
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out) == (code, "")
    assert err == message or how == "SIGKILL"  # Python itself may tell what it has cleaned up


# generate and convert


def test_generate_lists_and_makes_streams(dlopt: Command) -> None:
    listed = dlopt("generate", "admission").out
    for family in ("small", "mamat4", "lin5", "waiting"):
        assert f"admission --family {family}: " in listed
    small = dlopt("generate", "admission", "--family", "small", "--set", "tasks=4").json
    assert small["problem"] == "admission" and len(small["tasks"]) == 4


def test_convert_a_log_to_a_stream(dlopt: Command, tmp_path: Path) -> None:
    log = tmp_path / "toy.swf"
    log.write_text(LOG)
    done = dlopt("convert", "swf", log, "--to", "admission", "--out", "s.json", "--chi", "10")
    *_, skipped, summary = done.err.splitlines()
    assert skipped == "skipped: 2 jobs without run time" and done.out == ""
    assert summary == "s.json: admission, 2 tasks, 4 nodes, arrivals from 0 to 5 s"
    instance = read(tmp_path / "s.json")
    assert isinstance(instance, Instance)
    assert [(task.id, task.arrival, task.load) for task in instance.tasks] == [
        ("1", 0, 3),
        ("2", 5, 2),
    ]
    assert instance.tasks[1].deadline == pytest.approx(2 * 22)
    assert "s.json" in dlopt("simulate", "cluster", "--file", "s.json", "--check").out
    flags = ("--deadline-rule", "requested", "--deadline-factor", "1.5", "--machines", "9")
    done = dlopt("convert", "swf", log, "--to", "admission", "--at", "-1", "--span", "9", *flags)
    assert [task["deadline"] for task in done.json["tasks"]] == [45]
    assert done.json["tasks"][0]["arrival"] == 1 and done.json["cluster"]["nodes"] == 9
    assert "1 job without requested time" in done.err and "1 job without run time" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "admission", "--load", "5"], "--load is for --to iit, not for admission"),
        (["--to", "admission", "--starts", "fcfs"], "--starts is for --to iit"),
        (
            ["--to", "iit", "--at", "1", "--load", "5", "--span", "3"],
            "--span is for --to admission",
        ),
        (["--to", "iit", "--load", "5"], "--to iit needs --at"),
        (["--to", "iit", "--at", "5"], "--to iit needs --load"),
        (["--to", "admission", "--deadline-rule", "x"], "deadline rules are execution and"),
        (["--to", "admission", "--deadline-factor", "x"], "--deadline-factor: not a number"),
        (["--to", "admission", "--deadline-factor", "0"], "deadline_factor must be a positive"),
        (["--to", "admission", "--span", "-1"], "span must be a positive number, got -1"),
        (["--to", "admission", "--chi", "0"], "chi must be a positive number, got 0"),
        (["--to", "admission", "--at", "50"], "no job of the log is left"),
        (
            ["--to", "bag"],
            "swf converts to iit, admission, multistage, coreservation, not to 'bag'",
        ),
    ],
)
def test_bad_conversions(
    arguments: list[str], message: str, dlopt: Command, tmp_path: Path
) -> None:
    (tmp_path / "toy.swf").write_text(LOG)
    done = dlopt("convert", "swf", "toy.swf", *arguments, code=2)
    assert message in done.err and done.out == "" and done.err.count("\n") == 1


def test_simulations_on_several_processors_from_the_real_command() -> None:
    few = ("--seeds", "2", "--set", "horizon=100000", "--processes", "2", "--json")
    running = start("simulate", "cluster", *few)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0 and err == ""
    assert len(json.loads(out)["points"][0]["outcomes"]) == 2
