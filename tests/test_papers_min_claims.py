"""Claims of Min's thesis: each holds, fails or is open by the intervals of what it compares."""

import pytest

from benchmarks.papers import coreservation_claims
from benchmarks.papers.coreservation_claims import Claim, difference, formatted_estimate, quotient
from dlopt.simulation.replications import MeanEstimate


def test_intervals_are_of_what_is_compared_seed_by_seed():
    pairs = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]
    assert quotient(pairs) == MeanEstimate(0.5, 0.0)
    assert difference(pairs).mean == -2
    assert difference(pairs).half_width == pytest.approx(2.484, abs=1e-3)
    assert quotient([(1.0, 2.0)]) == MeanEstimate(0.5, None)
    for one, shown in (
        (MeanEstimate(0.5, None), "0.50"),
        (MeanEstimate(0.5, 0.0123), "0.50 ± 0.01"),
        (MeanEstimate(100.0, 9.7), "100.00 ± 10"),
    ):
        assert formatted_estimate(one) == shown


class Fixed:
    """Seeds of every method; `shift` is added at the second of two abscissae, in figure 4.6 two."""

    def __init__(self, values, shift=0.0, points=None):
        self.values, self.shift, self.points = values, shift, points

    def xs(self, figure):
        return self.points or ([10.0, 50.0] if figure == "4.6" else [4.0, 8.0])

    def by_seed(self, figure, x, label, measure):
        more = self.shift if x == self.xs(figure)[1] else 0.0
        return dict(enumerate(value + more for value in self.values[label]))


def claims(figure, words):
    found: list[Claim] = [
        claim
        for claim in coreservation_claims.CLAIMS
        if claim.figure == figure and words in claim.words
    ]
    return [claim.test for claim in found]


LOW, HIGH = (10.0, 11.0, 12.0), (20.0, 22.0, 24.0)


NOISY = (1.0, 20.0, 60.0)


"""Of three seeds, means of 11, 22 and 27; the last does not tell itself from the others."""


def test_a_ratio_holds_where_its_interval_says_so():
    (fewer,) = claims("4.4", "considerably less")
    assert fewer(Fixed({"RB": HIGH, "RSPB": LOW})).word == "holds"
    verdict = fewer(Fixed({"RB": LOW, "RSPB": HIGH}))
    assert verdict.word == "does not"
    assert verdict.numbers == "0 of 2 points; RSPB by RB 2.00 ± 0 at 4, 2.00 ± 0 at 8"
    # a mean of 27 by 67 is below three quarters, but may be above
    unsure = fewer(Fixed({"RB": (10.0, 90.0, 100.0), "RSPB": NOISY}))
    assert unsure.word == "open" and unsure.numbers.startswith("0 of 2 points, 2 open; ")
    half = fewer(Fixed({"RB": (20.0, 20.0, 20.0), "RSPB": (9.0, 10.0, 11.0)}, shift=40.0))
    assert half.word == "only" and half.numbers.startswith("1 of 2 points; ")
    assert fewer(Fixed({"RB": (20.0,), "RSPB": (1.0,)})).word == "open"
    assert fewer(Fixed({"RB": (0.0,) * 3, "RSPB": (0.0,) * 3})).word == "open"


def test_a_difference_holds_where_its_interval_says_so():
    (better, _) = claims("5.9", "considerably above")
    verdict = better(Fixed({"Co-RSPB": HIGH, "Co-RSBF": LOW}))
    assert verdict.word == "holds"
    assert verdict.numbers.startswith(
        "2 of 2 points; Co-RSPB over Co-RSBF (in brackets) +11.000 ± 2 at 4 (11)"
    )
    assert better(Fixed({"Co-RSPB": LOW, "Co-RSBF": HIGH})).word == "does not"
    assert better(Fixed({"Co-RSPB": NOISY, "Co-RSBF": LOW})).word == "open"
    (least,) = claims("5.9", "rejects least")
    assert least(Fixed({"Co-RSPB": LOW, "Co-RSBF": LOW})).word == "holds"


def test_a_trend_holds_where_every_step_does():
    every = dict.fromkeys(("Co-RSPB", "Co-RSBF", "Co-RSBFR"), LOW)
    (rising, falling) = claims("5.12", "more requests float")
    assert rising(Fixed(every, shift=1.0)).word == "holds"
    assert falling(Fixed(every, shift=1.0)).word == "does not"
    assert falling(Fixed(every)).word == rising(Fixed(every)).word == "holds"

    class Unsure(Fixed):
        def by_seed(self, figure, x, label, measure):
            return dict(enumerate((10.0, 12.0, 14.0) if x == 4 else (13.0, 12.0, 13.0)))

    verdict = rising(Unsure(every))
    assert verdict.word == "open"  # by .67 in the mean, of one seed it falls
    assert verdict.numbers.startswith("0 of 3 steps, 3 open; Co-RSPB 12 to 12.7 (+0.667 ± 5)")


def test_what_is_flat_is_flat_within_its_interval():
    every = dict.fromkeys(("Co-RSPB", "Co-RSBF", "Co-RSBFR"), LOW)
    (flat, _) = claims("5.13", "scope of priorities")
    assert flat(Fixed(every, shift=0.1)).word == "holds"
    assert flat(Fixed(every, shift=9.0)).word == "does not"

    class Unsure(Fixed):
        def by_seed(self, figure, x, label, measure):
            return dict(enumerate((10.0, 10.2, 9.8) if x == 4 else (10.5, 10.0, 10.0)))

    assert flat(Unsure(every)).word == "open"  # 2 % in the mean, and up to 10
    (scarce,) = claims("5.10", "very close")
    assert scarce(Fixed(every)).word == "holds"
    assert scarce(Fixed({**every, "Co-RSBFR": HIGH})).word == "does not"
    assert scarce(Fixed({**every, "Co-RSBFR": (11.0, 10.5, 12.0)})).word == "open"


def test_claims_about_what_is_reserved():
    ten = (10.0, 10.2, 9.9)
    equal, widest, none = claims("4.6", "")
    same = Fixed({"RB": ten, "RSPB": ten})
    assert (equal(same).word, widest(same).word, none(same).word) == ("holds", "holds", "holds")
    more = Fixed({"RB": ten, "RSPB": (11.0, 11.3, 11.2)})
    assert (equal(more).word, none(more).word) == ("only", "does not")
    unsure = Fixed({"RB": ten, "RSPB": (10.0, 10.9, 9.9)})
    assert (equal(unsure).word, none(unsure).word) == ("open", "open")


class Gains(Fixed):
    """What RSPB gains on RB, seed by seed, at 45, 50 and 56 %."""

    def __init__(self, gains):
        super().__init__({}, points=[45.0, 50.0, 56.0])
        self.gains = gains

    def by_seed(self, figure, x, label, measure):
        gain = self.gains[self.points.index(x)]
        return dict(enumerate(gain if label == "RSPB" else [0.0] * len(gain)))


def test_the_widest_gain_is_told_from_the_others_by_its_interval():
    _, widest, _ = claims("4.6", "")
    peak, less = (9.0, 10.0, 11.0), (5.0, 6.1, 7.0)
    assert widest(Gains((less, peak, less))).word == "holds"
    verdict = widest(Gains((peak, less, less)))
    assert verdict.word == "does not"
    assert verdict.numbers.startswith(
        "widest but for 50 at 45, +3.97 ± 0.14 from 50 %, surely wider at 45: "
    )
    # the mean at 50 is the largest, but its interval is wide
    wide = widest(Gains((less, (2.0, 10.0, 18.0), less)))
    assert wide.word == "open" and ", open at 45, 56: " in wide.numbers
    # the mean at 45 is the largest, but may be the smaller one
    assert widest(Gains(((2.0, 10.0, 18.0), less, less))).word == "open"
    # one place that is surely wider is enough, whatever is open
    assert widest(Gains(((2.0, 10.0, 18.0), less, peak))).word == "does not"
    alone = Gains((less, peak, less))
    alone.xs = lambda figure: [45.0]
    assert widest(alone).word == "open"


def test_the_order_by_priority():
    rb, ordered, soft = (30.0, 31.0), (29.0, 30.0), (10.0, 11.0)
    _, order = claims("4.7", "")
    verdict = order(Fixed({"RB": rb, "RB by priority": ordered, "RSPB": soft}))
    assert verdict.word == "does not"
    assert verdict.numbers.startswith("the order alone brings 5.0 ± 0 % of the difference")
    assert order(Fixed({"RB": rb, "RB by priority": soft, "RSPB": soft})).word == "holds"
    noisy = (10.0, 30.0)
    assert order(Fixed({"RB": rb, "RB by priority": noisy, "RSPB": soft})).word == "open"
