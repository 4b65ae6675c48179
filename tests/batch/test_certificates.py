"""Certificates of the runs of a batch: written, checked, recorded, counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dlopt
from dlopt import Limits, Result, Status
from dlopt.batch import ExperimentPlan, Record, plan_runs, read_records, run_batch, write_report
from dlopt.batch.drawings import file_name
from dlopt.batch.metrics import certified_shares, evaluate, summarise_method
from dlopt.batch.record_reading import record_from_line
from dlopt.batch.report_page import percent
from dlopt.batch.runs import solve_run
from dlopt.certificate_files import check_certificate
from dlopt.errors import InvalidInstanceError
from tests.once import solve

CHAIN, FORK = dlopt.load("dag/chain"), dlopt.load("dag/fork-join")
GOALS = ("makespan", "total-response-time")


@pytest.fixture
def forger(method_table: None) -> None:
    """A method whose certificate is that of another instance."""

    def method(instance: Any, **rest: Any) -> Result[Any]:
        return replace(solve(CHAIN, "exact"), certificate=solve(FORK, "exact").certificate)

    dlopt.register("dag", "forger", method, kind="exact", claim="optimal", objectives=GOALS)


def only_record(instance: Any, method: str, *, certificates: bool = True) -> Record:
    (run,) = plan_runs([instance], [method], certificates=certificates).runs
    return solve_run(run).record


def test_certificates_are_files_that_prove_the_bounds_of_the_records(tmp_path: Path) -> None:
    plan = plan_runs([CHAIN, FORK], ["exact", "heft"], objectives=GOALS, certificates=True)
    folder, file = tmp_path / "proofs", tmp_path / "records.jsonl"

    def run() -> dict[tuple[str, str, str], Record]:
        done = run_batch(plan, file, workers=1, certificates=folder)
        solved.append(done.solved)
        return {(one.instance, one.key.method, one.key.objective): one for one in done.records}

    solved: list[int] = []
    records = run()
    written = {one.certificate for one in records.values() if one.certificate is not None}
    assert {f"proofs/{path.name}" for path in folder.iterdir()} == written
    for (name, method, goal), record in records.items():
        assert (record.certificate is not None) == (record.proof == "certificate"), (name, goal)
        if record.certificate is None:
            assert (record.certificate_bytes, record.certificate_check) == (None, None)
            continue
        assert record.certificate == f"proofs/{file_name(record.key, '.vipr')}"
        path = tmp_path / record.certificate
        assert (path.stat().st_size, "accepted") == (
            record.certificate_bytes,
            record.certificate_check,
        )
        instance = {"chain": CHAIN, "fork-join": FORK}[name]
        result = solve(instance, method, objective=goal)
        assert check_certificate(instance, replace(result, certificate=None), path) == ()
    assert records["chain", "exact", "makespan"].certified
    assert not records["chain", "heft", "makespan"].certified
    assert read_records(file) == list(records.values())
    missing = tmp_path / str(records["chain", "exact", "makespan"].certificate)
    content = missing.read_bytes()
    missing.unlink()
    assert {one.certificate for one in run().values()} - {None} == written
    assert missing.read_bytes() == content
    run()
    assert solved == [len(plan.runs), 1, 0]


def test_a_batch_without_certificates_is_completed(tmp_path: Path) -> None:
    """Only the records that say that there is a certificate are made again."""
    file = tmp_path / "records.jsonl"
    plans: Callable[..., ExperimentPlan] = plan_runs
    once = run_batch(plans([CHAIN], ["exact", "heft"]), file, workers=1)
    assert {one.certificate for one in once.records} == {None}
    plan = plans([CHAIN], ["exact", "heft"], certificates=True)
    assert run_batch(plan, file, workers=1).solved == 0  # there is no folder for them
    again = run_batch(plan, file, workers=1, certificates=tmp_path)
    assert again.solved == 1
    assert [one.certificate is not None for one in again.records] == [
        one.key.method == "exact" for one in again.records
    ]


def test_a_certificate_that_is_refused_is_recorded_and_certifies_nothing(
    forger: None, tmp_path: Path
) -> None:
    (run,) = plan_runs([CHAIN], ["forger"], certificates=True).runs
    record, _, _, text = solve_run(run)
    assert record.status is Status.OPTIMAL and record.proof == "certificate" and text is not None
    assert record.certificate_check is not None
    assert record.certificate_check.startswith("refused: program on ")
    assert record.certificate_is_refused and not record.certified
    (share,) = certified_shares([record])
    assert (share.optimal, share.certified, share.refused, share.share) == (1, 0, 1, 0)
    write_report([record], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<li>forger on chain (dag, makespan): certificate refused: program on" in page


def test_a_certificate_that_cannot_be_written_ends_no_run(
    method_table: None, tmp_path: Path
) -> None:
    """Its leaves do not cover everything: the answer is recorded, and is not asked for again."""

    def method(instance: Any, **rest: Any) -> Result[Any]:
        proven = solve(bag, "exact")
        return replace(proven, certificate=replace(proven.certificate, leaves=()))

    bag, goals = dlopt.load("bag/small-etc"), ("makespan",)
    dlopt.register("bag", "leafless", method, kind="exact", claim="optimal", objectives=goals)
    plan = plan_runs([bag], ["leafless"], certificates=True)
    record, _, _, text = solve_run(plan.runs[0])
    assert (record.status, record.checked, text) == (Status.OPTIMAL, True, None)
    assert (record.certificate_check or "").startswith("refused: proof on ")
    assert record.certificate_bytes is None and not record.certified
    file = tmp_path / "records.jsonl"
    file.write_bytes(record.to_line())
    again = run_batch(plan, file, workers=1, certificates=tmp_path)
    assert (again.solved, again.records) == (0, (record,))


def test_nothing_is_checked_that_is_not_asked_for(forger: None) -> None:
    record = only_record(CHAIN, "forger", certificates=False)
    assert (record.certificate_check, record.certificate_is_refused) == (None, False)
    assert record.certified  # as its proof says
    assert only_record(CHAIN, "heft").certificate_check is None


def test_a_run_with_a_certificate_may_take_longer() -> None:
    limits = [Limits(time_s=1)]
    (plain,) = plan_runs([CHAIN], ["exact"], limits=limits).runs
    (more,) = plan_runs([CHAIN], ["exact"], limits=limits, certificates=True).runs
    assert (plain.total_timeout_s, more.total_timeout_s) == (62, 122)
    assert plain.key == more.key


def test_lines_keep_what_is_known_of_certificates() -> None:
    record = replace(only_record(CHAIN, "exact"), certificate="proofs/a.vipr")
    assert record.certificate_bytes is not None and record.certificate_bytes > 100
    assert record_from_line(record.to_line()) == record
    line = record.to_line().replace(f':{record.certificate_bytes},"'.encode(), b':-1,"')
    with pytest.raises(InvalidInstanceError, match="must be a size in bytes"):
        record_from_line(line)


def test_shares_are_counted_by_problem_and_method() -> None:
    chain, load = (
        only_record(CHAIN, "exact"),
        only_record(dlopt.load("iit/three-nodes"), "edf-iit-2"),
    )
    late = replace(chain, key=replace(chain.key, objective="total-response-time"), proof="solver")
    late = replace(late, certificate_bytes=None, certificate_check=None)
    feasible = replace(chain, status=Status.FEASIBLE)
    shares = certified_shares([load, chain, late, feasible, only_record(CHAIN, "heft")])
    assert [(one.problem, one.method, one.optimal, one.certified) for one in shares] == [
        ("iit", "edf-iit-2", 1, 0),
        ("dag", "exact", 2, 1),
    ]
    assert [one.share for one in shares] == [0, 0.5] and shares[0].size_bytes is None
    assert shares[1].size_bytes == 2 * (chain.certificate_bytes or 0)
    assert summarise_method("exact", evaluate([chain, late])).certified == 1


def test_the_page_has_the_shares(tmp_path: Path) -> None:
    record = only_record(CHAIN, "exact")
    write_report([record, only_record(CHAIN, "heft")], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    size = f"{(record.certificate_bytes or 0) / 1000:.1f}"
    cells = "</td><td class=n>".join(["exact", "1", "1", percent(1.0), "0", size])
    assert f"<tr><td>dag</td><td>{cells}</td></tr>" in page
    without = only_record(dlopt.load("iit/three-nodes"), "opr")
    write_report([without], tmp_path / "page.html")
    assert "Certified optima" not in (tmp_path / "page.html").read_text()
