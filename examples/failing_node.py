"""A node fails: which promises are broken?

A book breaks as few promises as possible, names them, and moves the others. `least` says that fewer
cannot be broken.
"""

from dlopt import MultiStage, check
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task

book = MultiStage(Cluster(4, tau=1, chi=3))
book.submit(Task("scan", arrival=0, load=6, deadline=20))
book.reserve(Reservation("demo", arrival=0, start=16, end=24, nodes=3))
book.submit(Task("index", arrival=0, load=3, deadline=30))
book.advance(5)
print(book.resources(fail=[0]))
print(book.resources(fail=[1]))
state = book.state()
print("violations of what is left:", check(state.instance, state.plan))
