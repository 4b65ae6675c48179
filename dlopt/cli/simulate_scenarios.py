"""Options of `dlopt simulate cluster` for what the algorithms do not know."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dlopt.cli.console import naming_file
from dlopt.cli.help_texts import option
from dlopt.cli.option_values import listed, number_of_option
from dlopt.errors import NotApplicableError

if TYPE_CHECKING:
    from dlopt.generation.uncertain_times import RandomScenario
    from dlopt.problems import admission, multistage
    from dlopt.simulation import ExecutedMixedRun, ExecutedRun

ScenarioFile = Annotated[
    Path | None,
    option(
        "--scenario FILE",
        "What the algorithms do not know of the stream of --file: true costs, true ends of "
        "reservations, and failures of nodes. The stream is executed as the file says.",
    ),
]
MeanTimeBetweenFailures = Annotated[
    str | None,
    option(
        "--mtbf T",
        "Let nodes fail at random: mean time until a node fails, and again after each repair.",
        "no failures",
    ),
]
MeanTimeToRepair = Annotated[
    str | None,
    option("--mttr T", "With --mtbf: mean time until a failed node is repaired.", "never repaired"),
]
Factors = Annotated[
    str | None,
    option(
        "--factors LOW,HIGH",
        "Draw true costs of tasks and true lengths of reservations: estimates times factors "
        "between LOW and HIGH. With 0.5,1 chunks end early, with 1,2 late.",
        "costs as estimated",
    ),
]
FactorShare = Annotated[
    str | None,
    option(
        "--factor-share F",
        "With --factors: fraction of the tasks and reservations that differ from the estimates.",
        "1",
    ),
]


def random_scenario(
    mtbf: str | None, mttr: str | None, factors: str | None, factor_share: str | None
) -> RandomScenario | None:
    """Return what the options let happen at random; None if none is given.

    Raises
    ------
    NotApplicableError
        If an option needs another one, or has an impossible value.
    """
    from dlopt.generation.uncertain_times import RandomScenario

    for name, given, needed, other in (
        ("--mttr", mttr, "--mtbf", mtbf),
        ("--factor-share", factor_share, "--factors", factors),
    ):
        if given is not None and other is None:
            raise NotApplicableError(f"{name} needs {needed}")
    if mtbf is None and factors is None:
        return None
    low = high = number_of_option("factors", "1")
    if factors is not None:
        bounds = listed(factors)
        if len(bounds) != 2:
            raise NotApplicableError(f"--factors takes two numbers, not {factors!r}")
        low, high = (number_of_option("factors", bound) for bound in bounds)
        if low > high:
            raise NotApplicableError(f"--factors: {bounds[0]} exceeds {bounds[1]}")
    try:
        return RandomScenario(
            None if mtbf is None else number_of_option("mtbf", mtbf),
            None if mttr is None else number_of_option("mttr", mttr),
            low,
            high,
            1 if factor_share is None else number_of_option("factor-share", factor_share),
        )
    except NotApplicableError as error:
        raise NotApplicableError(_in_options(str(error))) from None


def executed_runs(
    instance: admission.Instance,
    names: Sequence[str],
    scenario_file: Path | None,
    drawn_scenario: RandomScenario | None,
    seed: int,
    time_limit: float | None,
) -> list[ExecutedRun]:
    """Run a stream as a file of a scenario says, or as is drawn."""
    from dlopt.generation.workload import Workload
    from dlopt.problems.admission import Scenario, read_scenario
    from dlopt.simulation import run_executed
    from dlopt.simulation.policy_simulation import run_within

    scenario = Scenario() if scenario_file is None else read_scenario(scenario_file)
    if drawn_scenario is not None:
        scenario = drawn_scenario.of(Workload.of(instance), seed)
    with naming_file(scenario_file):
        runs = {name: partial(run_executed, instance, name, scenario) for name in names}
        return [run_within(time_limit, name, run) for name, run in runs.items()]


def executed_mixed_runs(
    instance: multistage.Instance,
    names: Sequence[str],
    scenario_file: Path | None,
    drawn_scenario: RandomScenario | None,
    seed: int,
    time_limit: float | None,
) -> list[ExecutedMixedRun]:
    """Run a stream with reservations as a file of a scenario says, or as is drawn."""
    from dlopt.problems.multistage import Scenario, read_scenario
    from dlopt.simulation import ExecutedMixedRun
    from dlopt.simulation.mixed_stream import task_workload
    from dlopt.simulation.policy_simulation import run_within

    scenario = Scenario() if scenario_file is None else read_scenario(scenario_file)
    if drawn_scenario is not None:
        scenario = drawn_scenario.of_mixed(instance, task_workload(instance, None), seed)
    with naming_file(scenario_file):
        runs = {name: partial(ExecutedMixedRun, instance, name, scenario) for name in names}
        return [run_within(time_limit, name, run) for name, run in runs.items()]


def _in_options(text: str) -> str:
    """Return a message with the names of the options instead of those of the parameters."""
    for parameter, name in (
        ("mean_time_between_failures", "--mtbf"),
        ("mean_time_to_repair", "--mttr"),
        ("least_factor", "the lower bound of --factors"),
        ("most_factor", "the upper bound of --factors"),
        ("share", "--factor-share"),
    ):
        if text.startswith(parameter):
            return name + text.removeprefix(parameter)
    return text
