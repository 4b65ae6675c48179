"""Hypothesis profiles: derandomised and bounded by default, heavy on demand."""

import os

from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci",
    max_examples=60,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=QUIET,
)
settings.register_profile(
    "heavy", max_examples=3000, deadline=None, print_blob=True, suppress_health_check=QUIET
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
