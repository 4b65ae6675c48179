"""Admission control of divisible loads: the framework, its algorithms, and the engine."""
