"""The lists of mutants fit the code as it is; `make mutants` sees them killed."""

import pytest

from tests.mutants.runner import read

MUTANTS = read()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_an_entry_fits_the_code(mutant):
    assert mutant.faults() == []


def test_there_are_mutants_and_each_says_why():
    assert MUTANTS
    assert all(mutant.why.endswith(".") for mutant in MUTANTS)
