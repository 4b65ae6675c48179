"""Certificates as VIPR files: what follows is proven, and nothing else is."""

import contextlib
import itertools
import re
import tracemalloc
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.formats import vipr

ODD = """% instance: odd
VER 1.0
VAR 2
x y
INT 2
0 1
OBJ min
2 0 1 1 1
CON 3 2
c G 1/2 2 0 1 1 1
x_G G 0 1 0 1
y_G G 0 1 1 1
RTP range 1 inf
SOL 0
DER 1
d G 1 OBJ { rnd 1 0 1 } -1
"""


def flaw(text):
    return vipr.parse(text).flaw()


def with_steps(*steps, claim="range 1 inf"):
    head = ODD.replace("range 1 inf", claim).partition("DER")[0]
    return "\n".join([head + f"DER {len(steps)}", *steps]) + "\n"


def test_what_a_file_says():
    parsed = vipr.parse(ODD)
    assert (parsed.names, parsed.integers, parsed.claim) == (("x", "y"), frozenset({0, 1}), 1)
    assert parsed.remarks == {"instance": "odd"}
    assert parsed.flaw() is None


def test_cases_cover_everything_or_prove_nothing():
    """From x + y >= 1/2 alone: either x <= 0, then y >= 1/2, rounded; or x >= 1."""
    steps = (
        "low L 0 1 0 1 { asm } -1",
        "a G 1 1 1 1 { rnd 2 0 1 3 -1 } -1",
        "b G 1 OBJ { lin 2 4 1 1 1 } -1",
        "high G 1 1 0 1 { asm } -1",
        "c G 1 OBJ { lin 2 6 1 2 1 } -1",
        "all G 1 OBJ { uns 5 3 7 6 } -1",
    )
    assert flaw(with_steps(*steps)) is None
    assert flaw(with_steps(*steps[:-1])) == "the last step rests on assumptions"
    apart = [step.replace("high G 1 ", "high G 2 ") for step in steps]
    assert "cover" in flaw(with_steps(*apart))
    swapped = [step.replace("uns 5 3 7 6", "uns 7 6 5 3") for step in steps]
    assert flaw(with_steps(*swapped)) is None
    wrong = [step.replace("uns 5 3 7 6", "uns 5 3 1 6") for step in steps]
    assert "both cases" in flaw(with_steps(*wrong))
    real = with_steps(*steps).replace("INT 2\n0 1", "INT 1\n1")
    assert flaw(real) is not None


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("d G 1 OBJ { lin 1 0 1 } -1", "said to follow"),
        ("d G 1 OBJ { rnd 1 0 -1 } -1", "turns it round"),
        ("d G 1 OBJ { rnd 1 7 1 } -1", "no constraint 7"),
        ("d G 1 OBJ { rnd 2 0 1 } -1", "announces"),
        ("d G 1 OBJ { guess } -1", "guess is no reason"),
        ("d G 1 OBJ { } -1", "nothing is no reason"),
        ("d G 1 OBJ { uns 0 1 } -1", "does not follow"),
        ("d G 1 OBJ { uns 0 1 2 9 } -1", "no constraint 9"),
        ("d G 1 2 0 2 1 1 { rnd 1 0 1 } -1", "said to follow"),
        ("d G 1/2 2 0 1 1 1 { lin 1 0 1 } -1", "not what is claimed"),
        ("d E 1/2 2 0 1 1 1 { lin 1 0 1 } -1", "turns it round"),
        ("d G 1 OBJ { rnd 1 0 1/3 } -1", "rounded"),
        ("d G 1 OBJ { rnd 1 0 1/0 } -1", "does not follow"),
        ("d G 1 OBJ { asm } -1", "assumptions"),
        ("d G 1 OBJ { asm 0 } -1", "has no reason"),
    ],
)
def test_what_does_not_follow_is_refused(step, why):
    assert why in flaw(with_steps(step))


def test_no_point_at_all():
    upper = ODD.replace("CON 3 2", "CON 4 2").replace("RTP", "u L 1/3 2 0 1 1 1\nRTP")
    text = upper.replace("range 1 inf", "infeas").partition("DER")[0]
    text += "DER 1\nd G 1 0 { lin 2 0 6 3 -6 } -1\n"
    assert vipr.parse(text).claim is None
    assert flaw(text) is None
    assert flaw(text.replace("6 3 -6", "6 3 -5")) is not None


def test_nothing_is_derived():
    assert flaw(with_steps()) == "nothing is derived"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("VER", "VAR", "section VER: VER is expected), got 'VAR'"),
        ("OBJ min", "OBJ max", "min is expected"),
        ("c G 1/2", "c H 1/2", "section CON: G, L or E is expected), got 'H'"),
        ("2 0 1 1 1\nx_G", "2 0 1 0 1\nx_G", "twice"),
        (
            "2 0 1 1 1\nx_G",
            "2 0 1 2 1\nx_G",
            "section CON: a variable below 2 is expected), got '2'",
        ),
        ("1/2", "1/0", "section CON: the right-hand side is expected: '1/0' is no number"),
        ("VER 1.0", "VER 2.0", "version"),
        ("x y", "x x", "one name"),
        ("CON 3 2", "CON 3 4", "more bounds"),
        ("CON 3 2", "CON 3 3", "more bounds"),
        ("INT 2\n0 1", "INT 2\n0 0", "twice"),
        ("range 1 inf", "range 1 0", "empty"),
        ("range 1 inf", "interval 1 inf", "infeas or range"),
        (
            "range 1 inf",
            "range 1 1/0",
            "section RTP: the largest value, or inf, is expected: '1/0'",
        ),
        ("SOL 0", "SOL 1\nbest 1 0", "is no number"),
        ("1/2", "1e999999999", "is no number"),
        ("range 1 inf", "range -inf inf", "is no number"),
        (
            "DER 1",
            "DER 2",
            "section DER: the file ends, and the name of a step is expected)",
        ),
        (
            "-1\n",
            "-1 more\n",
            "section DER: the steps are complete, and the end of the file is expected",
        ),
        ("} -1", "} never", "section DER: the last use of a step, or -1, is expected: 'never'"),
        ("SOL 0", "SOLE 0", "section RTP: SOL is expected), got 'SOLE'"),
        ("INT 2", "INT 3", "section INT: the index of a variable is expected: 'OBJ' is no whole"),
        ("DER 1", "DER many", "section DER: the number of steps is expected: 'many' is no whole"),
    ],
)
def test_a_file_of_another_kind_is_told_where(old, new, why):
    with pytest.raises(InvalidInstanceError, match="VIPR") as caught:
        vipr.parse(ODD.replace(old, new), "a.vipr")
    assert why in str(caught.value)
    assert "a.vipr: line " in str(caught.value)


@pytest.mark.parametrize("text", ["", ODD.replace("DER 1", "DER 2")])
def test_of_a_file_that_ends_too_early_no_value_is_named(text):
    with pytest.raises(InvalidInstanceError, match=r"the file ends, and .* is expected\)$"):
        vipr.parse(text)


def numbers_of(text):
    """Yield the places of all tokens that are numbers."""
    for match in re.finditer(r"(?<=[ \n])-?\d[\d/.]*(?=[ \n])", text):
        if text[: match.start()].split()[-1] != "VER":
            yield match.span()


BROKEN = ["1/0", "0/0", "nan", "inf", "-inf", "1e999", "--1", "+-1", "1_0", "1__0", "\u0661", "1/"]
BROKEN += ["/1", ".", "1//2", "0x1", "1/-1", "1/2/3", "1,0", "\xb2", "9" * 10_000, "", "1.1.1"]


@pytest.mark.parametrize("word", BROKEN)
def test_no_number_is_read_generously(word):
    """In whatever place it stands; the end of a range alone may be ``inf``."""
    text = ODD.replace("SOL 0", "SOL 1\nbest 1 0 1")
    assert flaw(text) is None
    places = list(numbers_of(text))
    assert len(places) > 30
    for start, end in places:
        changed = text[:start] + word + text[end:]
        with contextlib.suppress(InvalidInstanceError):
            assert vipr.parse(changed).flaw() is not None, changed
    for start, end in places:
        reasons = text.index("{")
        if start < reasons:
            with pytest.raises(InvalidInstanceError) as caught:
                vipr.parse(text[:start] + word + text[end:])
            assert caught.value.faults[0].path.startswith("line ")


def test_the_line_is_told():
    with pytest.raises(InvalidInstanceError) as caught:
        vipr.parse(ODD.replace("x_G G 0", "x_G G zero"))
    (fault,) = caught.value.faults
    assert (fault.path, fault.value) == ("line 11", "zero")


def test_solutions_are_skipped():
    assert flaw(ODD.replace("SOL 0", "SOL 1\nbest 1 0 1")) is None


def test_the_side_of_an_equation():
    one = vipr.Constraint({0: Fraction(1)}, 0, Fraction(2))
    assert one.implies(vipr.Constraint({0: Fraction(1)}, 1, Fraction(1)))
    assert one.implies(one)
    assert not one.implies(vipr.Constraint({0: Fraction(1)}, 0, Fraction(3)))
    assert not vipr.Constraint({0: Fraction(1)}, 1, Fraction(2)).implies(one)


CASES = (
    "low L 0 1 0 1 { asm } 8",
    "a G 1 1 1 1 { rnd 2 0 1 3 -1 } 5",
    "b G 1 OBJ { lin 2 4 1 1 1 } 8",
    "high G 1 1 0 1 { asm } 8",
    "c G 1 OBJ { lin 2 6 1 2 1 } 8",
    "all G 1 OBJ { uns 5 3 7 6 } 9",
    "end G 1 OBJ { lin 1 8 1 } -1",
)
"""Steps 3 to 9, each with the last step that uses it."""


def with_last_use(place, number):
    step, _, _ = CASES[place].rpartition(" ")
    return with_steps(*CASES[:place], f"{step} {number}", *CASES[place + 1 :])


@pytest.mark.parametrize(
    ("place", "earlier", "user"),
    [(0, 7, "all"), (1, 4, "b"), (2, 7, "all"), (3, 7, "all"), (4, 7, "all"), (5, 8, "end")],
)
def test_no_step_is_used_after_its_last_use(place, earlier, user):
    """Also where that is an assumption of a case, and where it is stated to be no use at all."""
    assert flaw(with_steps(*CASES)) is None
    after = f"constraint {place + 3} is used after what is stated as its last use"
    assert flaw(with_last_use(place, earlier)) == f"{user} does not follow: {after}"
    for number in (place + 3, 0):
        assert after in flaw(with_last_use(place, number))
    for number in (-1, earlier + 1, 9, 10**30):
        assert flaw(with_last_use(place, number)) is None


@pytest.mark.parametrize("number", [0, 9, 10])
def test_the_last_step_is_the_claim_whatever_its_last_use(number):
    """The documentation of VIPR 1.0 has an example whose last step states 0."""
    assert flaw(with_last_use(6, number)) is None
    assert flaw(with_last_use(6, number).replace("end G 1", "end G 2")) is not None


def read_of(text):
    """Return the lines of a text one by one, and the number of those that have been read."""
    lines = text.split("\n")
    left = iter(lines)
    return left, lambda: len(lines) - len(list(left))


def test_steps_are_read_while_they_are_followed():
    """Up to the first one that is invalid; nothing is accepted before the end of the file."""
    lines, count = read_of(with_steps(*CASES).replace("a G 1", "a G 2"))
    assert "a does not follow" in vipr.parse_lines(lines).flaw()
    assert count() == ODD[: ODD.index("DER")].count("\n") + 3
    for text, why in (
        (with_steps(*CASES, "end G 1 OBJ { lin 1 8 1 } never"), "the last use of a step, or -1,"),
        (with_steps(*CASES) + "more", "the end of the file is expected"),
        (with_steps(*CASES).replace("DER 7", "DER 8"), "the name of a step is expected"),
    ):
        lines, count = read_of(text)
        certificate = vipr.parse_lines(lines, "a.vipr")
        with pytest.raises(InvalidInstanceError, match=why) as caught:
            certificate.flaw()
        assert "a.vipr: line " in str(caught.value)
        with pytest.raises(InvalidInstanceError, match=why):
            vipr.parse(text)


def test_remarks_among_the_steps_and_after_them_count():
    text = with_steps(*CASES).replace("\nall", "\n% chunks: 1\nall") + "% chunks: 2\n% end: 3"
    certificate = vipr.parse_lines(text.split("\n"))
    assert certificate.flaw() is None
    assert certificate.remarks == {"instance": "odd", "chunks": "2", "end": "3"}
    assert vipr.parse(text).remarks == certificate.remarks


def peak_of(steps, last_use=1):
    """Return the memory that following a chain of steps takes, which are made one by one."""
    row = "2 0 1 1 1"
    head = f"VER 1.0 VAR 2 x y INT 2 0 1 OBJ min {row} CON 1 0 r G 1 {row} RTP range 1 inf SOL 0"
    body = (f"d G 1 OBJ {{ lin 1 {n} 1 }} {n + 1 + last_use}" for n in range(steps))
    tracemalloc.start()
    assert vipr.parse_lines(itertools.chain([f"{head} DER {steps}"], body)).flaw() is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_steps_that_are_not_used_any_more():
    """Of steps that may be used up to the end, each takes about 500 bytes."""
    assert peak_of(4_000) < 200_000
    assert peak_of(3_000, last_use=3_000) > 1_000_000


def chain(steps, width=20):
    """Return a proof in which each step follows from the one before it."""
    row = f"{width} " + " ".join(f"{j} 1" for j in range(width))
    names, integers = " ".join(f"y{j}" for j in range(width)), " ".join(map(str, range(width)))
    lines = [f"VER 1.0 VAR {width}", names, f"INT {width}", integers, f"OBJ min {row}"]
    lines += [f"CON 1 0 r G 1 {row}", f"RTP range 1 inf SOL 0 DER {steps}"]
    lines += [f"d{n} G 1 {row} {{ rnd 2 0 1/2 {n - 1} 1/2 }} {n + 1}" for n in range(1, steps)]
    return "\n".join([*lines, f"d{steps} G 1 OBJ {{ lin 1 {steps - 1} 1 }} -1"]) + "\n"


def test_long_proofs_are_read_a_line_at_a_time():
    text = chain(2_000)
    tracemalloc.start()
    parsed = vipr.parse(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * len(text)
    assert parsed.flaw() is None
