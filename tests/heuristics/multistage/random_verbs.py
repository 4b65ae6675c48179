"""Random calls of a book of tasks and reservations, and what each gave."""

import random
from dataclasses import replace
from fractions import Fraction

from dlopt import MultiStage
from dlopt.errors import DloptError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task
from tests.heuristics.multistage.strategies import hopeless_tasks

F = Fraction


def new_book(seed, number, algorithm="multi-stage", **options):
    """Return a book of a few nodes without promises."""
    rng = random.Random(seed)
    tau, chi = rng.choice([0, F(1, 2), 1, F(1, 3)]), rng.randint(1, 4)
    cluster = Cluster(rng.randint(1, 4), number(tau), number(chi))
    book = MultiStage(cluster, algorithm, exact_numbers=number is F, **options)
    for task in hopeless_tasks() if algorithm == "priced-multi-stage" else ():
        book.submit(task)
    return book


class RandomCaller:
    """A caller whose calls depend on its seed and on what the book shows."""

    def __init__(self, seed, number):
        self.rng, self.number, self.seed, self.count = random.Random(seed), number, seed, 0
        often = [self.submit] * 4 + [self.reserve] * 4 + [self.advance] * 3
        ends = [self.cancel] * 2 + [self.finish] * 2
        others = [self.change_task, self.change_reservation, self.archive, self.lose, self.gain]
        self.verbs = often + ends + others

    def calls(self, book, count):
        """Call random verbs, and return what each gave, with the plan after it."""
        return [(*self.call(book), book.plan(), book.waiting) for _ in range(count)]

    def call(self, book):
        verb = self.rng.choice(self.verbs)
        try:
            return verb.__name__, verb(book)
        except DloptError as error:
            return verb.__name__, str(error)

    def some(self, book):
        kinds = [one.task for one in book.decisions if one.accepted]
        kinds += [one.reservation for one in book.grants if one.accepted]
        return self.rng.choice(kinds or ["nothing"])

    def at(self, book, most):
        return book.now + self.number(F(self.rng.randint(0, most), 3))

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.seed}-{self.count}"

    def task(self, name, arrival):
        load, deadline = F(self.rng.randint(1, 20), 3), self.rng.randint(4, 50)
        return Task(name, arrival, self.number(load), self.number(deadline))

    def reservation(self, book, name, arrival):
        nodes = len(book.nodes) or 1
        start = max(arrival, self.at(book, 30))
        end = start + self.number(F(self.rng.randint(1, 20), 3))
        wanted = self.rng.choice([self.rng.randint(1, nodes), (self.rng.randrange(nodes),)])
        ratio = self.number(self.rng.choice([0, 0, F(1, 4), 1]))
        mandatory = self.rng.random() < 0.2
        return Reservation(
            name, arrival, start, end, io_ratio=ratio, nodes=wanted, mandatory=mandatory
        )

    def submit(self, book):
        return book.submit(self.task(self.name("t"), self.at(book, 3)))

    def reserve(self, book):
        return book.reserve(self.reservation(book, self.name("r"), self.at(book, 3)))

    def advance(self, book):
        return book.advance(self.at(book, 15))

    def cancel(self, book):
        return book.cancel(self.some(book))

    def change_task(self, book):
        return book.change(self.task(self.some(book), self.number(0)))

    def change_reservation(self, book):
        return book.change(
            replace(self.reservation(book, self.some(book), book.now), arrival=self.number(0))
        )

    def finish(self, book):
        return book.finished(self.some(book), self.at(book, 15))

    def archive(self, book):
        return book.archive()

    def lose(self, book):
        how = self.rng.choice(["fail", "remove"])
        return book.resources(**{how: [self.rng.choice(book.nodes or (0,))]})

    def gain(self, book):
        out = sorted({0, 1, 2, 3}.difference(book.nodes))
        return book.resources(**({"repair": out[:1]} if out else {"add": 1}))
