"""HEFT and the optimum of a task graph.

The example of Topcuoglu, Hariri and Wu 2002: HEFT ends at 80, as in their paper; the proven optimum
is 73.
"""

# %%
import dlopt

instance = dlopt.load("dag/topcuoglu-10")
print(dlopt.compare(instance, ["heft", "cpop", "peft", "exact", "bound-critical-path"]))

# %%
heft, best = dlopt.solve(instance, "heft"), dlopt.solve(instance)
for name, result in (("HEFT", heft), ("optimum", best)):
    machines = [place.machine for place in result.solution.placements]
    counts = [machines.count(machine) for machine in range(3)]
    print(f"{name} ends at {result.value}; tasks on each machine: {counts}")

# %%
figure = dlopt.plot(instance, best, "heft_and_the_optimum.svg")
