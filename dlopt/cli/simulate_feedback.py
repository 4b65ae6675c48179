"""The command that simulates schedulers to whom execution times are estimates."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin

import typer
from typer.core import TyperGroup

from dlopt.arithmetic import FLOATING
from dlopt.cli import simulate_feedback_parameters as parameters
from dlopt.cli.console import Exit, err, naming_file, out
from dlopt.cli.help_texts import option
from dlopt.cli.input_files import read_instance
from dlopt.cli.instance_options import StreamFile
from dlopt.cli.json_output import print_result
from dlopt.cli.option_values import listed, number, pairs
from dlopt.cli.options import AsJson, Picture, Seed, Settings
from dlopt.cli.picture_options import Dpi, NoTitle, PictureStyle, Width
from dlopt.cli.progress import bar
from dlopt.errors import NotApplicableError, known_names
from dlopt.presentation.wording import counted, precision

if TYPE_CHECKING:
    from dlopt.simulation.feedback import ExperimentSetting


class WithFeedback(TyperGroup):
    """A group of commands that takes ``--feedback`` for the command ``feedback``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in the place of the flag."""
        given = ["feedback", *args[1:]] if args[:1] == ["--feedback"] else args
        return super().parse_args(ctx, given)


def feedback(
    strategies: Annotated[
        str | None,
        option(
            "--strategies S,S",
            "Strategies to run: feedback, no-feedback, ideal, worst-case.",
            "all",
        ),
    ] = None,
    load: Annotated[float | None, option("--load L", "Constant system load.")] = None,
    loads: Annotated[
        str | None, option("--loads L,L", "System load that varies between two values.", "0.3,1.5")
    ] = None,
    fail: Annotated[
        float,
        option(
            "--fail FRACTION",
            "Fraction of nodes that fail at half the simulated time, such as 0.4.",
        ),
    ] = 0.0,
    recover: Annotated[
        float | None,
        option(
            "--recover FRACTION",
            "Fraction of the simulated time after which these nodes recover, such as 0.75.",
            "never",
        ),
    ] = None,
    file: StreamFile = None,
    scenario: Annotated[
        Path | None, option("--scenario FILE", "True costs of the tasks of --file, and failures.")
    ] = None,
    seeds: Annotated[int, option("--seeds N", "Number of seeds.")] = 1,
    seed: Seed = 0,
    settings: Settings = None,
    list_parameters: Annotated[
        bool,
        option(
            "--list-parameters",
            "List what --set takes, with defaults and meanings, and simulate nothing.",
        ),
    ] = False,
    check: Annotated[
        bool, option("--check", "Verify every trace with the true costs; slow.")
    ] = False,
    plot_to: Picture = None,
    width: Width = None,
    no_title: NoTitle = False,
    dpi: Dpi = None,
    as_json: AsJson = False,
) -> None:
    """Simulate feedback control of the miss ratio.

    Execution times are estimates, whose errors the schedulers do not know.

    A model is identified from a run whose utilization bound varies at random; the gains of a
    PI controller follow from its root locus; then the strategies run on the same tasks. Times
    are in the unit of the workload, by default the time to transmit one unit of load. Also:
    dlopt simulate --feedback. Requires python-control,
    which the extra sim of dlopt installs.
    """
    from dlopt.cli import simulate_feedback_tables as tables
    from dlopt.simulation.feedback import STRATEGIES, compare_strategies

    if list_parameters:
        _list_parameters(as_json)
        raise typer.Exit(Exit.DONE)
    if seeds < 1:
        raise NotApplicableError(f"--seeds must be positive, got {seeds}")
    names = list(STRATEGIES) if strategies is None else _listed("--strategies", strategies)
    setting = _setting(pairs(settings), _span(load, loads), fail, recover, _given(file, scenario))
    with naming_file(scenario), bar() as progress:
        found = compare_strategies(
            setting, names, seeds=range(seed, seed + seeds), progress=progress
        )
    if as_json:
        print_result("simulate feedback", tables.to_data(found, check))
    else:
        for line in tables.report(found):
            out.print(line)
    if plot_to is not None:
        tables.draw(found, plot_to, PictureStyle(width, no_title, dpi))
    broken = tables.checked(found) if check else {}
    for name, count in broken.items():
        text = counted(count, "violation")
        err.print(f"{name}: {text}, verified: {precision(FLOATING)}", markup=False)
    raise typer.Exit(Exit.FOUND if any(broken.values()) else Exit.DONE)


def _list_parameters(as_json: bool) -> None:
    found = parameters.groups()
    if as_json:
        print_result("simulate feedback", {"parameters": parameters.to_data(found)})
        return
    for text in parameters.lines(found):
        out.print(text, markup=False, soft_wrap=True)


def _setting(
    given: dict[str, Any],
    span: tuple[float, float] | None,
    fail: float,
    recover: float | None,
    stream: Any,
) -> ExperimentSetting:
    """Share out what was set among the records that it belongs to."""
    from dlopt.simulation.feedback import ExperimentSetting, Policy, Specification

    homes = {home: group.kinds for home, group in parameters.groups().items()}
    shares: dict[str, dict[str, Any]] = {home: {} for home in homes}
    for name, text in given.items():
        home = next((home for home, kinds in homes.items() if name in kinds), None)
        if home is None:
            known = known_names(name, sorted(one for kinds in homes.values() for one in kinds))
            raise NotApplicableError(f"feedback has no parameter {name!r} ({known})")
        shares[home][name] = _typed(name, text, homes[home][name])
    if stream is not None and shares["parameters"]:
        raise NotApplicableError("--file does not go with " + ", ".join(shares["parameters"]))
    if stream is not None and span is not None:
        raise NotApplicableError("--file does not go with a load")
    if span is not None:
        shares["setting"] |= {"load_from": span[0], "load_to": span[1]}
    return ExperimentSetting(
        **shares["setting"],
        failing=fail,
        recovery=recover,
        given=stream,
        parameters=shares["parameters"],
        policy=Policy(**shares["policy"]),
        specification=Specification(**shares["specification"]),
    )


def _typed(name: str, text: str, kind: Any) -> Any:
    """Return what a text stands for, where a word, a count or a number is wanted."""
    if kind is bool:
        if text not in ("true", "false"):
            raise NotApplicableError(f"{name} must be true or false, got {text!r}")
        return text == "true"
    value = number(text)
    if kind is str or get_origin(kind) is Literal:
        return text
    if isinstance(value, str):
        raise NotApplicableError(f"{name} must be a number, got {text!r}")
    return float(value) if isinstance(value, Fraction) or kind is float else value


def _span(load: float | None, loads: str | None) -> tuple[float, float] | None:
    if load is not None and loads is not None:
        raise NotApplicableError("--load and --loads do not go together")
    if load is not None:
        return load, load
    if loads is None:
        return None
    found = [number(word) for word in _listed("--loads", loads)]
    if len(found) != 2 or any(isinstance(value, str) for value in found):
        raise NotApplicableError(f"--loads takes two numbers, not {loads!r}")
    return float(found[0]), float(found[1])


def _given(file: Path | None, scenario: Path | None) -> Any:
    """Read the stream of an instance, and what happens to it."""
    from dlopt.generation.workload import Workload
    from dlopt.problems.admission import Instance, Scenario, read_scenario

    if file is None:
        if scenario is not None:
            raise NotApplicableError("--scenario needs --file")
        return None
    instance = read_instance(file)
    if not isinstance(instance, Instance):
        raise NotApplicableError(f"{file}: admission is simulated, not {instance.problem}")
    if not instance.cluster.identical:
        raise NotApplicableError(f"{file}: a workload is for identical nodes")
    return Workload.of(instance), Scenario() if scenario is None else read_scenario(scenario)


def _listed(option: str, text: str) -> list[str]:
    names = listed(text)
    if not names:
        raise NotApplicableError(f"{option} names nothing")
    if option == "--strategies" and len(set(names)) < len(names):
        raise NotApplicableError("--strategies names a strategy twice")
    return names
