"""What an installed wheel must do: solve exactly, with both solver libraries in one process."""

import subprocess
import sys

import dlopt
from dlopt.verify import strategies
from dlopt.verify.instance_builders import builder

instance = dlopt.generate("iit", "ramp", nodes=5)
result = dlopt.solve(instance)
assert result.status == "optimal", result
assert result.value == result.bound, result
assert not dlopt.check(instance, result)
assert dlopt.solve(instance, "edf-iit-2").value == result.value
assert dlopt.load("iit/three-nodes").load == 3

tried = []
strategies.find_by_hypothesis(builder("iit"), tried.append, examples=3, seed=0)
assert tried

SOLVE = {
    "highs": "import pulp; p = pulp.LpProblem('p'); x = pulp.LpVariable('x', 1); p += x;"
    "p.solve(pulp.HiGHS(msg=False)); assert x.value() == 1",
    "cpsat": "from ortools.sat.python import cp_model; m = cp_model.CpModel();"
    "y = m.new_int_var(1, 9, 'y'); m.minimize(y); s = cp_model.CpSolver();"
    "assert s.solve(m) == cp_model.OPTIMAL and s.value(y) == 1",
}
for first, second in (("highs", "cpsat"), ("cpsat", "highs")):
    subprocess.run([sys.executable, "-c", f"{SOLVE[first]}\n{SOLVE[second]}"], check=True)
print("smoke: fine")
