"""The commands that convert files of other formats to instances: ``convert swf|bins|graph|etc``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli import conversions
from dlopt.cli.convert_deprecated import ConvertGroup
from dlopt.cli.help_texts import add_command
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
    typer.Option(
        "--deadline", metavar="D", help="Absolute deadline of the graph, which arrives at 0.",
    ),
]  # fmt: skip


def swf(
    ctx: typer.Context,
    file: File,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="STEM",
            help="Problem type to convert to: iit, admission, multistage or coreservation.",
        ),
    ],
    machines: Annotated[
        int | None,
        typer.Option(
            "--machines",
            metavar="N",
            help="Number of nodes or machines.",
            show_default="from the file",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="T",
            help="Instant of the log; required for iit.",
            show_default="first job",
        ),
    ] = None,
    span: Annotated[
        str | None,
        typer.Option(
            "--span",
            metavar="S",
            help="Length of the arrival window of jobs (all but iit).",
            show_default="to the end",
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(
            "--first",
            metavar="N",
            help="Only the first N usable jobs (all but iit).",
            show_default="all",
        ),
    ] = None,
    tau: Annotated[
        str | None,
        typer.Option(
            "--tau",
            metavar="X",
            help="Unit transmission time of the log's cluster.",
            show_default="1",
        ),
    ] = None,
    chi: Annotated[
        str | None,
        typer.Option(
            "--chi",
            metavar="X",
            help="Unit processing time of the log's cluster.",
            show_default="100",
        ),
    ] = None,
    theta_cm: Annotated[
        str | None,
        typer.Option(
            "--theta-cm", metavar="X", help="Set-up time of a transmission.", show_default="0"
        ),
    ] = None,
    theta_cp: Annotated[
        str | None,
        typer.Option(
            "--theta-cp", metavar="X", help="Set-up time of a computation.", show_default="0"
        ),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option("--load", metavar="X", help="Load to partition; required for iit."),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option("--deadline", metavar="D", help="Deadline, relative to --at (iit)."),
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(
            "--starts",
            metavar="RULE",
            help="When jobs start: as recorded, first come first served (fcfs; iit), or as "
            "submitted (coreservation).",
            show_default="recorded",
        ),
    ] = None,
    deadline_rule: Annotated[
        str | None,
        typer.Option(
            "--deadline-rule",
            metavar="RULE",
            help="Deadlines are a multiple of the execution time on as many nodes as the job had "
            "(execution), or of the requested run time (requested).",
            show_default="execution",
        ),
    ] = None,
    deadline_factor: Annotated[
        str | None,
        typer.Option(
            "--deadline-factor",
            metavar="F",
            help="Factor by which the time of --deadline-rule is multiplied.",
            show_default="2",
        ),
    ] = None,
    reserve_fraction: Annotated[
        str | None,
        typer.Option(
            "--reserve-fraction",
            metavar="F",
            help="Fraction of jobs that become reservations (multistage).",
            show_default="0.3",
        ),
    ] = None,
    advance: Annotated[
        str | None,
        typer.Option(
            "--advance",
            metavar="T",
            help="Lead time of reservations (multistage): seconds, or X/lambda, mean "
            "inter-arrival times.",
            show_default="0",
        ),
    ] = None,
    machine_size: Annotated[
        str | None,
        typer.Option(
            "--machine-size",
            metavar="N",
            help="Processors of each machine (coreservation).",
            show_default="those of the log, in equal parts",
        ),
    ] = None,
    durations: Annotated[
        str | None,
        typer.Option(
            "--durations",
            metavar="RULE",
            help="Duration of requests: actual run time (run) or requested time (requested).",
            show_default="run",
        ),
    ] = None,
    priority: Annotated[
        str | None,
        typer.Option(
            "--priority",
            metavar="RULE",
            help="Equal total priority of each job (equal), user or queue (coreservation).",
            show_default="equal",
        ),
    ] = None,
    least: Annotated[
        str | None,
        typer.Option(
            "--least",
            metavar="F",
            help="Smallest accepted fraction of the requested CPU (coreservation).",
            show_default="1",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="T",
            help="Interval between decisions on requests (coreservation).",
        ),
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
        str,
        typer.Option(
            "--format", metavar="FORMAT", help="Format of the file: orlib, bpplib or temporal."
        ),
    ],
    to: Annotated[str, typer.Option("--to", metavar="STEM", help="Problem type.")] = (
        "coreservation"
    ),
    machines: Annotated[
        int | None,
        typer.Option(
            "--machines",
            metavar="N",
            help="Number of bins.",
            show_default="as many as may be needed",
        ),
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(
            "--problem", metavar="NAME", help="Name of the problem, if the file has several."
        ),
    ] = None,
    online: Annotated[bool, typer.Option("--online", help="Decide on items one by one.")] = False,
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
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of the file: stg, wfformat, dax, pegasus-dag, dot or costs.",
            show_default="by name or content",
        ),
    ] = None,
    to: Annotated[str, typer.Option("--to", metavar="STEM", help="Problem type.")] = "dag",
    machines: Annotated[
        int | None,
        typer.Option(
            "--machines", metavar="N", help="Number of machines.", show_default="from the file"
        ),
    ] = None,
    powers: Annotated[
        str | None,
        typer.Option(
            "--powers", metavar="P,P,...", help="Speed of each machine.", show_default="1 each"
        ),
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(
            "--bandwidth",
            metavar="B",
            help="Data per unit of time between two machines; required where the file has amounts "
            "of data (bytes).",
            show_default="1, where the file has times",
        ),
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option("--latency", metavar="T", help="Latency of each transfer.", show_default="0"),
    ] = None,
    machines_file: Annotated[
        Path | None,
        typer.Option(
            "--machines-file",
            metavar="FILE",
            help="Machines and network, as the fields of an instance.",
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            "--edges",
            metavar="FILE",
            help="Table of edges that belongs to a table of costs.",
        ),
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
    to: Annotated[str, typer.Option("--to", metavar="STEM", help="Problem type.")] = "bag",
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
