"""Exact certificates of drawn programs, against oracles in plain rational arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pulp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.backends.exact_lp import certify
from dlopt.backends.linear_program import BasisStatus, LinearProgram, verify
from tests.backends.programs import (
    F,
    changed,
    is_proof,
    numbers,
    programs,
    solved,
    to_pulp,
)

BASIC, LOWER, UPPER, FREE = BasisStatus


# --- oracles: plain rational arithmetic, nothing shared with the module ---------------------


def solve_dense(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve an augmented square system by Gauss and Jordan; None if singular."""
    matrix = [row[:] for row in matrix]
    for k in range(len(matrix)):
        pivot = next((i for i in range(k, len(matrix)) if matrix[i][k]), None)
        if pivot is None:
            return None
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        matrix[k] = [a / matrix[k][k] for a in matrix[k]]
        for i, row in enumerate(matrix):
            if i != k:
                matrix[i] = [a - row[k] * b for a, b in zip(row, matrix[k], strict=True)]
    return [row[-1] for row in matrix]


def all_basic_values(program: LinearProgram) -> Iterator[Fraction]:
    """Yield the objective of every feasible basic solution: columns tight constraints at a time."""
    unit = [tuple((k, F(k == j)) for k in range(program.columns)) for j in range(program.columns)]
    lines = [*zip(program.rows, program.row_bounds, strict=True)]
    lines += zip(unit, program.column_bounds, strict=True)
    tight = [(row, side) for row, limits in lines for side in {*limits} if side is not None]
    for chosen in itertools.combinations(tight, program.columns):
        matrix = []
        for row, side in chosen:
            dense = [F(0)] * program.columns
            for j, a in row:
                dense[j] += a
            matrix.append([*dense, side])
        x = solve_dense(matrix)
        if x is None:
            continue
        sums = [(sum((a * x[j] for j, a in row), F(0)), limits) for row, limits in lines]
        if all((lo is None or lo <= s) and (hi is None or s <= hi) for s, (lo, hi) in sums):
            cost = sum((c * v for c, v in zip(program.costs, x, strict=True)), F(0))
            yield program.sense * cost + program.offset


# --- properties -----------------------------------------------------------------------------


@pytest.mark.property
@given(programs())
def test_an_optimal_basis_of_highs_becomes_a_proof(program: LinearProgram) -> None:
    problem = to_pulp(program)
    converted, columns, rows = solved(problem)
    certificate = certify(program, columns, rows)
    assert converted == program
    assert certificate is not None
    assert verify(program, certificate)
    assert is_proof(program, certificate)
    found = float(pulp.value(problem.objective))
    assert float(certificate.value) == pytest.approx(found, rel=1e-6, abs=1e-6)


@pytest.mark.property
@given(programs(ranged=True), st.data())
def test_any_basis_is_repaired_to_an_optimum(program: LinearProgram, data: st.DataObject) -> None:
    size = program.columns + len(program.rows)
    status = data.draw(st.lists(st.sampled_from(BasisStatus), min_size=size, max_size=size))
    certificate = certify(
        program, status[: program.columns], status[program.columns :], max_pivots=10_000
    )
    assert certificate is not None
    assert is_proof(program, certificate)


@pytest.mark.property
@given(programs(most=3, boxed=True, ranged=True))
def test_the_value_is_that_of_the_best_of_all_bases(program: LinearProgram) -> None:
    certificate = certify(program, [LOWER] * program.columns, [BASIC] * len(program.rows))
    values = [*all_basic_values(program)]
    assert certificate is not None
    assert certificate.value == (min(values) if program.sense == 1 else max(values))


@pytest.mark.property
@given(programs(ranged=True), st.data())
def test_a_corrupted_certificate_passes_only_if_it_is_another_proof(
    program: LinearProgram, data: st.DataObject
) -> None:
    certificate = certify(program, [LOWER] * program.columns, [BASIC] * len(program.rows))
    assert certificate is not None
    change = data.draw(numbers.filter(bool))
    assert not verify(program, replace(certificate, value=certificate.value + change))
    # Optima need not be unique, so the oracle decides; a change with a cost is always refused.
    k = data.draw(st.integers(0, program.columns - 1))
    corrupted = replace(certificate, primal=changed(certificate.primal, k, change))
    assert verify(program, corrupted) == is_proof(program, corrupted)
    assert not (program.costs[k] and verify(program, corrupted))
    if program.rows:
        k = data.draw(st.integers(0, len(program.rows) - 1))
        corrupted = replace(certificate, dual=changed(certificate.dual, k, change))
        assert verify(program, corrupted) == is_proof(program, corrupted)
