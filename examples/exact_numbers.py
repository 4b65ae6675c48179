"""Exact numbers, decimals and floats.

Integers and fractions give exact answers. Data in floats make the answer a float, which is checked
with a tolerance; `exact_numbers=True` reads the decimals of a file as the fractions that they
spell.
"""

import json
from fractions import Fraction
from pathlib import Path

import dlopt
from dlopt.problems.iit import Cluster, Instance

for third in (Fraction(1, 3), 1 / 3):
    result = dlopt.solve(Instance(Cluster(2, tau=third, chi=1), ready_times=(0, 0), load=1))
    print(result.value, "tolerance:", result.tolerance)

data = {"problem": "iit", "version": 1, "cluster": {"nodes": 2, "tau": 0.1, "chi": 1}}
Path("tenth.json").write_text(json.dumps(data | {"ready_times": [0, 0], "load": 1}))
print(dlopt.solve(dlopt.read("tenth.json", exact_numbers=True)).value)
