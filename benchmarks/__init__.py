"""Speed and scale of dlopt, measured: ``python -m benchmarks.iit``."""
