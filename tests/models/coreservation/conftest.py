"""What tests of the models of coreservation switch off."""

import pytest

from dlopt.models.coreservation.branch_and_price.pricing_knapsack import MachineKnapsack


@pytest.fixture
def without_knapsacks(monkeypatch):
    """Pricing is done by CP-SAT, as where many cliques matter."""
    monkeypatch.setattr(MachineKnapsack, "applies", lambda *_: False)
