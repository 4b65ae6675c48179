"""Identities whose instant has come, against a plain dictionary."""

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from dlopt.books import ExpiryQueue

steps = st.lists(
    st.tuples(
        st.sampled_from(["set", "remove", "until", "before", "copy", "pickle"]),
        st.sampled_from("abcd"),
        st.integers(0, 9),
    ),
    max_size=40,
)


@given(steps)
def test_what_is_taken_is_what_is_due(drawn):
    queue, plain = ExpiryQueue(), {}
    for verb, identity, instant in drawn:
        if verb == "set":
            queue[identity] = plain[identity] = instant
        elif verb == "remove":
            assert queue.pop(identity, None) == plain.pop(identity, None)
        elif verb == "copy":
            queue = copy.deepcopy(queue)
        elif verb == "pickle":
            queue = pickle.loads(pickle.dumps(queue))
        else:
            late = instant - (verb == "before")
            due = sorted((at, name) for name, at in plain.items() if at <= late)
            take = queue.take_until if verb == "until" else queue.take_before
            assert list(take(instant)) == [name for _, name in due]
            plain = {name: at for name, at in plain.items() if at > late}
        assert queue == plain


def test_a_copy_goes_on_by_itself():
    queue = ExpiryQueue([("a", 1)])
    other = copy.deepcopy(queue)
    assert list(other.take_until(1)) == ["a"]
    assert dict(queue) == {"a": 1}


def test_only_the_last_instant_of_an_identity_counts():
    queue = ExpiryQueue([("a", 1), ("a", 5)])
    assert list(queue.take_until(4)) == []
    assert list(queue.take_until(5)) == ["a"]
