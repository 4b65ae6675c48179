"""Integers of thousands of digits, against what `decimal` reads and writes of them at once."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.long_integers import integer_from, text_of
from tests.examples import share

integers = st.one_of(
    st.integers(),
    st.integers(0, 30_000).map(lambda bits: 2**bits),
    st.integers(0, 9_000).map(lambda digits: 10**digits),
    st.tuples(st.integers(1, 60), st.integers(1, 6_000)).map(lambda pair: pair[0] ** pair[1] + 1),
)


@share(2)
@given(integers, st.integers(-2, 2), st.sampled_from([1, -1]))
def test_all_digits_are_written_and_read_again(size: int, near: int, sign: int) -> None:
    number = sign * (size + near)
    text = text_of(number)
    assert text == format(Decimal(number), "f")
    assert integer_from(text) == number


@given(st.text(alphabet="0123456789", min_size=1, max_size=3_000), st.sampled_from(["", "-", "+"]))
def test_leading_zeros_and_signs_do_not_matter(digits: str, sign: str) -> None:
    assert integer_from(f" {sign}000{digits}\n") == int(Decimal(sign + digits))


@pytest.mark.parametrize(
    "text", ["", "-", "--1", "1-", "1.0", "1e3", "1_000", "\u0661", "1 2", "\xb2"]
)
def test_what_is_no_integer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an integer"):
        integer_from(text)
