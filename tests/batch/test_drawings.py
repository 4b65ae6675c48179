"""Drawings of plans: no two cells share a name, and a page holds nothing but drawings."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.batch import drawings
from dlopt.batch.drawings import file_name, read_drawing
from dlopt.batch.records import RunKey
from dlopt.errors import NotApplicableError
from dlopt.result import Limits

PLAIN = RunKey("iit", "0" * 64, "opr", "completion", Limits(), 0, (), "as-written", "1.0")
WORDS = st.text("ab:_-/é.", max_size=3)
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "problem": st.sampled_from(["iit", "bag"]),
    "hash": st.text("01", min_size=14, max_size=14),
    "method": WORDS,
    "objective": WORDS,
    "limits": st.builds(
        Limits,
        time_s=st.none() | st.sampled_from([0.5, 1.0, 10.0]),
        work=st.none() | st.integers(1, 3),
        threads=st.integers(1, 2),
        gap=st.sampled_from([0.0, 0.1]),
    ),
    "seed": st.integers(0, 3),
    "options": st.lists(st.tuples(WORDS, st.integers(0, 2)), max_size=2).map(tuple),
    "numbers": st.sampled_from(["as-written", "exact", "float"]),
    "dlopt": WORDS,
}
KEYS = st.builds(RunKey, **OTHERS)


@given(KEYS, KEYS)
def test_cells_share_a_name_only_if_they_are_one(one: RunKey, other: RunKey) -> None:
    assert (file_name(one) == file_name(other)) == (one == other)


@given(KEYS, st.data())
def test_every_parameter_is_in_the_name(key: RunKey, data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(list(OTHERS)))
    changed = replace(key, **{field: data.draw(OTHERS[field])})
    assert (file_name(key) == file_name(changed)) == (key == changed)


@given(KEYS)
def test_a_name_is_a_file_anywhere(key: RunKey) -> None:
    name = file_name(key)
    assert name.isascii() and len(name) < 150 and not set(name) & set('/\\:*?"<>| ')


SVG = b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE svg PUBLIC "-//W3C">\n<!-- a -->\n<svg/>'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a run, with a drawing in it and a secret beside it."""
    folder = tmp_path / "run"
    (folder / "drawn").mkdir(parents=True)
    (folder / "drawn" / "a.svg").write_bytes(SVG)
    (tmp_path / "secret.svg").write_bytes(b"<svg>secret</svg>")
    return folder


def test_drawings_of_the_run_are_taken(run: Path) -> None:
    for name in ("drawn/a.svg", "./drawn/a.svg", "drawn/../drawn/a.svg"):
        assert read_drawing(name, [run]) == SVG
    assert read_drawing("../run/drawn/a.svg", [run]) == SVG
    assert read_drawing("../secret.svg", [run, run.parent]) == b"<svg>secret</svg>"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../secret.svg", "outside the folder"),
        ("{tmp}/secret.svg", "outside the folder"),
        ("{tmp}/run/drawn/a.svg", "outside the folder"),
        ("/etc/passwd", "outside the folder"),
        ("/dev/zero", "outside the folder"),
        ("link.svg", "reached by a link"),
        ("folder/secret.svg", "reached by a link"),
        ("zero", "reached by a link"),
        ("drawn", "no file"),
        ("lost.svg", "no file"),
        (".", "outside the folder"),
        ("nul\0.svg", "no file"),
        ("x" * 5_000, "no file"),
        ("pipe", "no file"),
        ("text.svg", "no drawing"),
        ("late.svg", "no drawing"),
        ("empty.svg", "no drawing"),
        ("large.svg", "larger than 100 bytes"),
    ],
)
def test_nothing_else_is(
    run: Path, name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawings, "MOST_BYTES", 100)
    (run / "link.svg").symlink_to(run.parent / "secret.svg")
    (run / "folder").symlink_to(run.parent)
    (run / "zero").symlink_to("/dev/zero")
    os.mkfifo(run / "pipe")
    (run / "text.svg").write_text("root:x:0:0")
    (run / "late.svg").write_text("a secret <svg/>")
    (run / "empty.svg").write_text("")
    (run / "large.svg").write_bytes(b"<svg>" + b" " * 200)
    with pytest.raises(NotApplicableError, match=reason):
        read_drawing(name.format(tmp=run.parent), [run])


def test_a_link_to_the_folder_itself_is_none_of_its_content(run: Path) -> None:
    (run.parent / "there").symlink_to(run)
    assert read_drawing("drawn/a.svg", [run.parent / "there"]) == SVG
