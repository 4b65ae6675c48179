"""Numbers: what is exact stays exact, and what is written can be read."""

import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import (
    canonical,
    exact,
    field,
    is_exact,
    is_finite,
    parse,
    shown,
    simplest,
    to_json,
)

F = Fraction
finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(st.integers(), st.fractions(), finite)
LONG = 10**5200 + 1  # more digits than int() and str() convert


def exact_text(number: int | Fraction) -> str:
    plain = to_json(number)
    assert type(plain) is int or type(plain) is str
    return str(plain)


@pytest.mark.parametrize(
    ("number", "rational"),
    [(3, F(3)), (0.5, F(1, 2)), (F(2, 7), F(2, 7)), (0.1, F(1, 10)), (1e23, F(10**23))],
)
def test_exact_does_not_round(number: object, rational: Fraction) -> None:
    found = exact(number)
    assert type(found) is Fraction
    assert found == rational


def test_exact_returns_a_fraction_as_it_is() -> None:
    number = F(1, 3)
    assert exact(number) is number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_exact(number: float) -> None:
    with pytest.raises((ValueError, OverflowError)):
        exact(number)


def test_one_float_makes_all_floating() -> None:
    assert is_exact([]) and is_exact([1, F(1, 3)])
    assert not is_exact([1, F(1, 3), 2.0])
    assert field([1, F(1, 3)]) is exact
    assert field([F(1, 3), 0.0]) is float
    assert field([]) is exact


@pytest.mark.parametrize(
    ("number", "plain"), [(F(6, 2), 3), (F(0), 0), (F(1, 2), F(1, 2)), (2.0, 2.0), (5, 5)]
)
def test_simplest(number: object, plain: object) -> None:
    found = simplest(number)
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(
    ("number", "finite"),
    [
        (0, True),
        (1.5, True),
        (F(1, 3), True),
        (sys.float_info.max, True),
        (10**308, True),
        (10**309, False),
        (F(10**400, 3), False),
        (F(1, 10**400), True),
        (math.inf, False),
        (-math.inf, False),
        (math.nan, False),
    ],
)
def test_finite_is_within_the_range_of_a_float(number: object, finite: bool) -> None:
    assert is_finite(number) is finite


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("39/8", F(39, 8)),
        (" -6 / 4 ", F(-3, 2)),
        ("+7", F(7)),
        ("0", F(0)),
        ("0/5", F(0)),
        ("1.25", F(5, 4)),
        ("0.1", F(1, 10)),
        (".5", F(1, 2)),
        ("5.", F(5)),
        ("-1.25e1", F(-25, 2)),
        ("1E-3", F(1, 1000)),
        ("1e9999", F(10**9999)),
        ("\t8\n", F(8)),
        ("7" * 100_000, F(7 * (10**100_000 - 1), 9)),
    ],
)
def test_parse(text: str, number: Fraction) -> None:
    found = parse(text)
    assert type(found) is Fraction
    assert found == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1/0",
        "0/0",
        "1/00",
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "0x10",
        "1_000",
        "1/1_0",
        "\u0661\u0662",  # arabic digits
        "\uff11",  # a full-width digit
        "1\u00a0",  # a space that is no ASCII
        "1/2/3",
        "1/-2",
        "1.5/2",
        "1 2",
        "1e",
        "e5",
        ".",
        "-",
        "--1",
        "1,5",
        "1e10000",
        "1e99999999999",
        "one",
        "1/",
        "/2",
        "1\x00",
        "7" * 100_001,
        "7" * 200_000,
        "1/" + "7" * 200_000,
        " " * 200_000,
        "1" + " " * 200_000,
    ],
    ids=lambda text: ascii(text)[:20],
)
def test_parse_refuses(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert len(str(caught.value)) < 200


@pytest.mark.property
@given(st.one_of(st.integers(), st.fractions()))
def test_what_is_written_is_read_again(number: int | Fraction) -> None:
    assert parse(exact_text(number)) == number


@pytest.mark.parametrize(
    "number",
    [F(LONG, 3), F(1, LONG), F(-LONG, 10**5000 + 3), F(3**12_000, 2**19_000)],
    ids=["top", "bottom", "both", "powers"],
)
def test_thousands_of_digits_are_written_and_read_again(number: Fraction) -> None:
    text = exact_text(number)
    assert len(text) > 5000
    assert parse(text) == number
    assert parse(text) != number + F(1, LONG**2)


@pytest.mark.property
@given(st.text(alphabet="0123456789/.eE+-_ xnaif\u0661", max_size=12))
def test_parse_reads_or_refuses_as_fractions_do(text: str) -> None:
    """What parse takes, Fraction reads alike; it refuses underscores, and 1/-2 and the like."""
    try:
        found = parse(text)
    except ValueError:
        return
    top, _, bottom = text.partition("/")
    assert found == F(top.strip()) / (F(bottom.strip()) if bottom else 1)
    assert text.isascii() and "_" not in text


@pytest.mark.parametrize(
    ("number", "said"),
    [(F(39, 8), "39/8"), (F(-1, 3), "-1/3"), (F(4), 4), (0.5, 0.5), (2.0, 2.0), (7, 7)],
)
def test_to_json(number: object, said: object) -> None:
    found = to_json(number)
    assert found == said
    assert type(found) is type(said)


@pytest.mark.property
@given(numbers, numbers)
def test_canonical_is_shared_by_equals_only(left: object, right: object) -> None:
    assert (canonical(left) == canonical(right)) is (left == right)


@pytest.mark.property
@given(numbers)
def test_canonical_is_shared_by_all_types(number: object) -> None:
    forms = {canonical(number), canonical(exact(number))}
    if float(exact(number)) == number:
        forms.add(canonical(float(exact(number))))
    if exact(number).denominator == 1:
        forms.add(canonical(int(exact(number))))
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("number", "form"), [(0.5, "1/2"), (3.0, 3), (-0.0, 0), (F(4, 2), 2), (7, 7)]
)
def test_canonical(number: object, form: object) -> None:
    found = canonical(number)
    assert found == form
    assert type(found) is type(form)


def test_canonical_has_all_digits() -> None:
    assert canonical(F(LONG, 3)) != canonical(F(LONG + 3, 3))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "-"),
        (F(39, 8), "39/8"),
        (F(6, 2), "3"),
        (F(-7, 3), "-7/3"),
        (F(999_999, 2), "999999/2"),
        (F(1_000_000, 3), "333333"),
        (F(12345, 997), "12345/997"),
        (F(12345, 1001), "12.3327"),
        (F(1, 10**6), "1e-06"),
        (F(1, 3) ** 20, "2.86797e-10"),
        (2 / 3, "0.666667"),
        (4.0, "4"),
        (12, "12"),
        (10**14, "100000000000000"),
        (10**15, "1e+15"),
        (-(10**15), "-1e+15"),
        (10**400, "1e+400"),
        (F(10**400, 3), "3.33333e+399"),
        (-F(2 * 10**5000, 3), "-6.66667e+4999"),
    ],
)
def test_shown(number: object, text: str) -> None:
    assert shown(number) == text


def test_shown_with_more_digits() -> None:
    assert shown(2 / 3, 10) == "0.6666666667"
    assert shown(F(12345, 76543), 10) == "12345/76543"
    assert shown(F(12345, 76543)) == "0.161282"
