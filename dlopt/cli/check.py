"""The command that checks plans, and how instance and plan are read together."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt.arithmetic import EXACT, is_exact
from dlopt.cli.console import Exit, out
from dlopt.cli.help_texts import option
from dlopt.cli.input_files import STANDARD, read_instance, read_plan, require_one_standard_input
from dlopt.cli.instance_options import InstanceFile, ResultFile
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson, Exactly, Floating, refuse_shared_files, writable
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.validated_record import numbers_of
from dlopt.result import Result

_ROUNDED = (
    "The plan has floats, and the check is exact: --tolerance 1e-9 allows for their rounding."
)


def check(
    instance_file: InstanceFile,
    result_file: ResultFile,
    tolerance: Annotated[
        float | None,
        option(
            "--tolerance R",
            "Relative tolerance; 0 is exact.",
            "that of the result; of your own plan 0, or 1e-9 for instances in floats",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        option("--certificate FILE", "VIPR certificate of the result's bound, verified too."),
    ] = None,
    statement: Annotated[
        Path | None,
        option(
            "--statement FILE",
            "Write what the certificate proves, if it is accepted.",
            callback=writable,
        ),
    ] = None,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Verify a plan by the rules of its problem.

    The checker shares no code with the methods that make plans.
    """
    from dlopt import api, certificate_files, result_checker
    from dlopt.cli import result_tables
    from dlopt.plain_data import verification_to_data

    for read in (instance_file, result_file, certificate):
        if read is not None:
            refuse_shared_files(read, {"--statement": statement})
    instance, plan = read_both(instance_file, result_file, exact_numbers, float_numbers)
    found = api.check(instance, plan, tolerance)
    if certificate is not None:
        if not isinstance(plan, Result):
            raise NotApplicableError("a plan alone has no bound: --certificate needs a result")
        found += certificate_files.check_certificate(instance, plan, certificate, statement)
    elif statement is not None:
        raise NotApplicableError("--statement needs --certificate: it is of a certificate")
    used = result_checker.tolerance_of(instance, plan, tolerance)
    solution = plan.solution if isinstance(plan, Result) else plan
    values = {} if solution is None else result_checker.values_of(instance, solution)
    unverified: list[str] = []
    if certificate is None and not found and isinstance(plan, Result):
        unverified += result_tables.unverified_claims(plan)
    if as_json:
        data = verification_to_data(instance, plan, found, tolerance) | {"unverified": unverified}
        print_result("check", data | ({} if certificate is None else {"proven": not found}))
    else:
        out.print(result_tables.verification(found, used, values), soft_wrap=True)
        if certificate is not None and not found:
            out.print(f"[green]proven[/green]: {_proven(plan)}", soft_wrap=True)
        for claim in unverified:
            text = f"not verified: {claim} (--certificate FILE verifies a proof)"
            out.print(text, soft_wrap=True)
        for line in result_tables.violations(instance, plan, found):
            out.print(line)
        floats = solution is not None and not is_exact(numbers_of(solution))
        if found and used == EXACT and floats:
            out.print(_ROUNDED, soft_wrap=True)
    raise typer.Exit(Exit.FOUND if found else Exit.DONE)


def read_both(
    instance_file: Path, result_file: Path, exact_numbers: bool, float_numbers: bool
) -> tuple[Any, Any]:
    """Read an instance and a plan of it; of a wrong hash, say which reading would have it."""
    require_one_standard_input(instance_file, result_file)
    instance = read_instance(
        instance_file, exact_numbers=exact_numbers, float_numbers=float_numbers
    )
    try:
        return instance, read_plan(result_file, instance, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        faults = [
            replace(fault, rule=f"{fault.rule} ({_reading_of(instance_file, fault.value)})")
            if fault.path == "hash"
            else fault
            for fault in error.faults
        ]
        raise InvalidInstanceError(faults, error.source, as_json=True) from error


def _reading_of(file: Path, wanted: object) -> str:
    """Return with which reading of its numbers a file has a hash."""
    from dlopt import io

    if file == STANDARD:  # it has been read
        return "the numbers may be read otherwise"
    flags = {
        "--exact-numbers": {"exact_numbers": True},
        "--float-numbers": {"float_numbers": True},
        "neither --exact-numbers nor --float-numbers": {},
    }
    for words, reading in flags.items():
        with contextlib.suppress(InvalidInstanceError):  # a number that is none as a float
            if io.instance_hash(io.read(file, **reading)) == wanted:
                return f"with {words} it is"
    return "it is not, whether with --exact-numbers, --float-numbers or neither"


def _proven(result: Result[Any]) -> str:
    """Say what a certificate has proven of a result."""
    from dlopt.presentation.wording import amount, class_text

    plans = class_text(result)
    no_plan = "no plan" if plans is None else f"no plan of {plans},"
    if result.bound is None:
        return f"{no_plan} exists"
    return f"{no_plan} has a better value than {amount(result.bound)} ({result.objective})"
