"""Runs of algorithms over the stream of an instance file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dlopt.cli.console import err
from dlopt.cli.input_files import read_instance
from dlopt.cli.simulate_scenarios import executed_mixed_runs, executed_runs
from dlopt.errors import NotApplicableError

if TYPE_CHECKING:
    from dlopt.generation.uncertain_times import RandomScenario
    from dlopt.problems import admission
    from dlopt.simulation import ExecutedMixedRun, ExecutedRun, MixedRun, PolicyRun, StreamRun


def runs_of(
    file: Path,
    names: Sequence[str],
    scenario_file: Path | None,
    drawn_scenario: RandomScenario | None,
    seed: int,
    windows: int | None = None,
    time_limit: float | None = None,
) -> list[StreamRun | PolicyRun] | list[MixedRun] | list[ExecutedRun] | list[ExecutedMixedRun]:
    """Run each algorithm over the stream of a file, or over each of its windows.

    What the algorithms do not know is in a file, or drawn. A time limit is for each run.

    Raises
    ------
    NotApplicableError
        If the file, its problem, or an algorithm does not fit.
    SolverError
        If an online policy fails, or does not end in time.
    """
    from dlopt.problems import admission, multistage
    from dlopt.simulation import MixedRun, algorithm_of
    from dlopt.simulation.policy_simulation import run_within
    from dlopt.simulation.replications import MIXED_ALGORITHMS

    if scenario_file is not None and drawn_scenario is not None:
        raise NotApplicableError("--scenario does not go together with --mtbf or --factors")
    is_executed = scenario_file is not None or drawn_scenario is not None
    executed = scenario_file, drawn_scenario, seed, time_limit
    instance = read_instance(file)
    if not isinstance(instance, admission.Instance | multistage.Instance):
        known = "admission and multistage are simulated"
        raise NotApplicableError(f"{file}: {known}, not {instance.problem}")
    for name in names:
        if name not in MIXED_ALGORITHMS:
            algorithm_of(name)
    if isinstance(instance, multistage.Instance):
        strange = [name for name in names if name not in MIXED_ALGORITHMS]
        if strange:
            raise NotApplicableError(f"{file}: {strange[0]} does not support reservations")
        if windows is not None:
            raise NotApplicableError(f"{file}: windows are for admission, not for multistage")
        names = names or ["multi-stage"]
        if is_executed:
            return executed_mixed_runs(instance, names, *executed)
        return [run_within(time_limit, name, partial(MixedRun, instance, name)) for name in names]
    strange = [name for name in names if name in MIXED_ALGORITHMS]
    if strange:
        raise NotApplicableError(f"{file}: {strange[0]} is for multistage, not for admission")
    names = names or ["edf-iit-2"]
    if is_executed:
        return executed_runs(instance, names, *executed)
    return _stream_runs(instance, names, windows, time_limit)


def _stream_runs(
    instance: admission.Instance,
    names: Sequence[str],
    windows: int | None,
    time_limit: float | None,
) -> list[StreamRun | PolicyRun]:
    """Run each algorithm over a stream, or over each of its windows."""
    from dlopt.simulation import run_stream
    from dlopt.simulation.policy_simulation import run_within
    from dlopt.simulation.windows import short_windows_note, windows_of

    parts = [instance] if windows is None else windows_of(instance, windows)
    runs = [
        run_within(time_limit, name, partial(run_stream, part, name))
        for name in names
        for part in parts
    ]
    if windows is None:
        return runs
    note = short_windows_note(instance, windows, [run.outcome.drain for run in runs])
    if note is not None:
        err.print(note, markup=False, soft_wrap=True)
    return runs
