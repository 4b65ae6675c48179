"""Task graphs that arrive at a grid.

Gateways bid for graphs, and nodes of the LANs run their tasks. The trace of the simulation is
checked by rules that share no code with the simulator.
"""

from dlopt.simulation.grid.sweep import GridExperiment

for tasks in (6, 12, 24):
    run = GridExperiment(lans=3, nodes=4, tasks=tasks).run(keep_trace=True)
    outcome = run.outcome
    print(f"{tasks} graphs, {outcome.remote} sent to another LAN, {outcome.met} in time")
    print("violations:", run.check())
