"""The commands that convert files of other formats to instances: ``convert swf|bins|graph|etc``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli import conversions
from dlopt.cli.convert_deprecated import ConvertGroup
from dlopt.cli.help_texts import add_command, option
from dlopt.cli.input_files import path_of
from dlopt.cli.json_output import write_instance
from dlopt.cli.options import AsJson, Exactly, Out, Seed
from dlopt.cli.progress import line
from dlopt.errors import NotApplicableError

app = typer.Typer(
    name="convert",
    cls=ConvertGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Convert a file of another format to an instance.",
)

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", callback=path_of, help="The file to convert; - for standard input."
    ),
]
Deadline = Annotated[
    str | None,
    option("--deadline D", "Absolute deadline of the graph, which arrives at 0.")
]  # fmt: skip


def swf(
    ctx: typer.Context,
    file: File,
    to: Annotated[
        str,
        option(
            "--to STEM", "Problem type to convert to: iit, admission, multistage or coreservation."
        ),
    ],
    machines: Annotated[
        int | None, option("--machines N", "Number of nodes or machines.", "from the file")
    ] = None,
    at: Annotated[
        str | None, option("--at T", "Instant of the log; required for iit.", "first job")
    ] = None,
    span: Annotated[
        str | None,
        option("--span S", "Length of the arrival window of jobs (all but iit).", "to the end"),
    ] = None,
    first: Annotated[
        int | None, option("--first N", "Only the first N usable jobs (all but iit).", "all")
    ] = None,
    tau: Annotated[
        str | None, option("--tau X", "Unit transmission time of the log's cluster.", "1")
    ] = None,
    chi: Annotated[
        str | None, option("--chi X", "Unit processing time of the log's cluster.", "100")
    ] = None,
    theta_cm: Annotated[
        str | None, option("--theta-cm X", "Set-up time of a transmission.", "0")
    ] = None,
    theta_cp: Annotated[
        str | None, option("--theta-cp X", "Set-up time of a computation.", "0")
    ] = None,
    load: Annotated[str | None, option("--load X", "Load to partition; required for iit.")] = None,
    deadline: Annotated[
        str | None, option("--deadline D", "Deadline, relative to --at (iit).")
    ] = None,
    starts: Annotated[
        str | None,
        option(
            "--starts RULE",
            "When jobs start: as recorded, first come first served (fcfs; iit), or as "
            "submitted (coreservation).",
            "recorded",
        ),
    ] = None,
    deadline_rule: Annotated[
        str | None,
        option(
            "--deadline-rule RULE",
            "Deadlines are a multiple of the execution time on as many nodes as the job had "
            "(execution), or of the requested run time (requested).",
            "execution",
        ),
    ] = None,
    deadline_factor: Annotated[
        str | None,
        option(
            "--deadline-factor F", "Factor by which the time of --deadline-rule is multiplied.", "2"
        ),
    ] = None,
    reserve_fraction: Annotated[
        str | None,
        option(
            "--reserve-fraction F", "Fraction of jobs that become reservations (multistage).", "0.3"
        ),
    ] = None,
    advance: Annotated[
        str | None,
        option(
            "--advance T",
            "Lead time of reservations (multistage): seconds, or X/lambda, mean "
            "inter-arrival times.",
            "0",
        ),
    ] = None,
    machine_size: Annotated[
        str | None,
        option(
            "--machine-size N",
            "Processors of each machine (coreservation).",
            "those of the log, in equal parts",
        ),
    ] = None,
    durations: Annotated[
        str | None,
        option(
            "--durations RULE",
            "Duration of requests: actual run time (run) or requested time (requested).",
            "run",
        ),
    ] = None,
    priority: Annotated[
        str | None,
        option(
            "--priority RULE",
            "Equal total priority of each job (equal), user or queue (coreservation).",
            "equal",
        ),
    ] = None,
    least: Annotated[
        str | None,
        option(
            "--least F", "Smallest accepted fraction of the requested CPU (coreservation).", "1"
        ),
    ] = None,
    batch: Annotated[
        str | None, option("--batch T", "Interval between decisions on requests (coreservation).")
    ] = None,
    seed: Seed = 0,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Convert a job log in the Standard Workload Format (SWF).

    --to iit: the ready times of the nodes at an instant. --to admission: the stream of jobs.
    --to multistage: that stream, with a fraction of the jobs reserved in advance. --to
    coreservation: the jobs as requests for processors.
    """
    common = {"file", "to", "seed", "write_to", "as_json"}
    given = {k: v for k, v in ctx.params.items() if k not in common and v is not None}
    with line("converting"):
        made = conversions.from_log(file, to, given, seed)
    write_instance("convert swf", made, write_to, as_json)


def bins(
    file: File,
    form: Annotated[
        str, option("--format FORMAT", "Format of the file: orlib, bpplib or temporal.")
    ],
    to: Annotated[str, option("--to STEM", "Problem type.")] = ("coreservation"),
    machines: Annotated[
        int | None, option("--machines N", "Number of bins.", "as many as may be needed")
    ] = None,
    problem: Annotated[
        str | None, option("--problem NAME", "Name of the problem, if the file has several.")
    ] = None,
    online: Annotated[bool, option("--online", "Decide on items one by one.")] = False,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Convert a bin packing problem.

    Each item becomes a request, each bin a machine.
    """
    _require_target("bins", to, "coreservation")
    made = conversions.from_bin_packing(file, form, machines, problem, online)
    write_instance("convert bins", made, write_to, as_json)


def graph(
    file: File,
    form: Annotated[
        str | None,
        option(
            "--format FORMAT",
            "Format of the file: stg, wfformat, dax, pegasus-dag, dot or costs.",
            "by name or content",
        ),
    ] = None,
    to: Annotated[str, option("--to STEM", "Problem type.")] = "dag",
    machines: Annotated[
        int | None, option("--machines N", "Number of machines.", "from the file")
    ] = None,
    powers: Annotated[
        str | None, option("--powers P,P,...", "Speed of each machine.", "1 each")
    ] = None,
    bandwidth: Annotated[
        str | None,
        option(
            "--bandwidth B",
            "Data per unit of time between two machines; required where the file has amounts "
            "of data (bytes).",
            "1, where the file has times",
        ),
    ] = None,
    latency: Annotated[str | None, option("--latency T", "Latency of each transfer.", "0")] = None,
    machines_file: Annotated[
        Path | None,
        option("--machines-file FILE", "Machines and network, as the fields of an instance."),
    ] = None,
    edges: Annotated[
        Path | None, option("--edges FILE", "Table of edges that belongs to a table of costs.")
    ] = None,
    deadline: Deadline = None,
    exact_numbers: Exactly = False,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Convert a task graph.

    Formats: STG, WfFormat, DAX, Pegasus DAG, DOT, and tables of costs.
    """
    _require_target("graph", to, "dag")
    made = conversions.from_task_graph(
        file,
        form,
        conversions.MachineOptions(machines, powers, bandwidth, latency, machines_file),
        edges=edges,
        deadline=deadline,
        exact_numbers=exact_numbers,
    )
    write_instance("convert graph", made, write_to, as_json)


def etc(
    file: File,
    to: Annotated[str, option("--to STEM", "Problem type.")] = "bag",
    exact_numbers: Exactly = False,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Convert a matrix of expected times to compute (ETC)."""
    _require_target("etc", to, "bag")
    made = conversions.from_etc_matrix(file, exact_numbers)
    write_instance("convert etc", made, write_to, as_json)


def _require_target(kind: str, to: str, target: str) -> None:
    if to != target:
        raise NotApplicableError(f"{kind} converts to {target}, not to {to!r}")


add_command(
    app,
    swf,
    "convert swf LOG.swf --to admission --span 86400 --out day.json",
    options={
        "Cluster (--to iit, admission, multistage)": ("tau", "chi", "theta_cm", "theta_cp"),
        "Ready times (--to iit)": ("load", "deadline"),
        "Streams of tasks (--to admission, multistage)": (
            *("deadline_rule", "deadline_factor", "reserve_fraction", "advance"),
        ),
        "Requests (--to coreservation)": (
            *("machine_size", "durations", "priority", "least", "batch"),
        ),
    },
)
add_command(app, bins, "convert bins binpack1.txt --format orlib --problem u120_00")
add_command(
    app,
    graph,
    "convert graph workflow.json --machines 4 --bandwidth 1e8 --out dag.json",
    options={
        "Machines and network": ("machines", "powers", "bandwidth", "latency", "machines_file")
    },
)
add_command(app, etc, "convert etc matrix.txt --out bag.json")
