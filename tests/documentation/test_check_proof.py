"""The example that checks proofs follows constraints of every sense, and refuses what is wrong."""

import runpy
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.documentation.shown_output import ROOT
from tests.written_certificates import two_cases

PROGRAM = """VER 1.0
VAR 2 x y
INT 2 0 1
OBJ min 2 0 1 1 1
CON 2 0
sum E 3 2 0 2 1 1
low G 2 1 1 1
RTP range 3 inf
SOL 0
"""
TWICE = "twice E 6 2 0 4 1 2 { lin 1 0 2 } -1"
HALVES = "halves G 5/2 2 0 1 1 1 { lin 2 0 1/2 1 1/2 } -1"
ROUNDED = "rounded G 3 2 0 1 1 1 { rnd 1 3 1 } -1"


def check(folder: Path, monkeypatch: pytest.MonkeyPatch, *steps: str) -> None:
    file = folder / "proof.vipr"
    file.write_text("\n".join([f"{PROGRAM}DER {len(steps)}", *steps]))
    monkeypatch.setattr(sys, "argv", ["check_proof.py", str(file)])
    runpy.run_path(str(ROOT / "examples" / "check_proof.py"), run_name="__main__")


def test_a_proof_with_equations_is_followed(tmp_path, monkeypatch, capsys):
    check(tmp_path, monkeypatch, TWICE, HALVES, ROUNDED)
    assert "no objective below 3\nsteps that were checked: 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("wrong E 5 2 0 2 1 2 { lin 2 0 1 1 1 } -1", "a factor has the wrong sign"),
        ("wrong E 1 2 0 2/3 1 1/3 { rnd 1 0 1/3 } -1", "cannot be rounded"),
        ("wrong E 7 2 0 4 1 2 { lin 1 0 2 } -1", "does not follow"),
        ("wrong E 6 2 0 4 1 2 { lin 2 0 2 } -1", "another number of multipliers"),
        ("wrong E 6 2 0 4 1 2 { sum 1 0 2 } -1", "sum is no rule"),
        ("wrong E 6 2 0 4 1 2 { lin 1 -2 2 } -1", "-2 is no whole number"),
        ("wrong E 6 2 0 4 1 2 { lin 1 2 1 } -1", "there is no constraint 2 before it"),
        ("wrong E 6 2 0 4 1 2 { lin } -1", "another number of multipliers"),
        ("wrong E 6 2 0 4 1 2 { } -1", "nothing is no rule"),
        ("wrong G 0 0 { uns 0 0 0 } -1", "is not from four constraints"),
        (TWICE.replace("} -1", "} 2\nwrong G 0 0 { lin 1 2 0 } -1"), "constraint 2 is used after"),
    ],
    ids=[
        "an inequality in an equation",
        "a rounded equation",
        "another right-hand side",
        "another number of multipliers",
        "an unknown rule",
        "a negative number",
        "the step itself",
        "no multipliers",
        "no rule",
        "three constraints",
        "a constraint after its last use",
    ],
)
def test_a_wrong_equation_is_refused(tmp_path, monkeypatch, capsys, step, error):
    with pytest.raises(SystemExit):
        check(tmp_path, monkeypatch, step, TWICE, HALVES)
    assert f"NOT proven: step wrong: {error}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ("0", "1", "no objective below 1"),
        ("0", "2", "NOT proven: step last: are not at most k and at least k + 1"),
        ("1/3", "4/3", "NOT proven: step last: are not at most k and at least k"),
    ],
)
def test_two_cases_are_those_of_an_integer(tmp_path, monkeypatch, capsys, low, high, verdict):
    file = tmp_path / "cases.vipr"
    file.write_text(two_cases(low, high))
    monkeypatch.setattr(sys, "argv", ["check_proof.py", str(file)])
    refused = pytest.raises(SystemExit) if "NOT" in verdict else nullcontext()
    with refused:
        runpy.run_path(str(ROOT / "examples" / "check_proof.py"), run_name="__main__")
    assert verdict in capsys.readouterr().out


NO_PROOFS = {
    "nothing": b"",
    "a count is missing": b"VER 1.0 VAR",
    "no sections": b"{}",
    "no steps": PROGRAM.encode(),
    "a row ends early": PROGRAM.partition("E 3")[0].encode(),
    "an unknown sense": PROGRAM.replace("sum E", "sum X").encode() + f"DER 1 {TWICE}".encode(),
    "no variables": PROGRAM.replace("VAR 2 x y", "").encode() + f"DER 1 {ROUNDED}".encode(),
    "a variable twice": PROGRAM.replace("0 2 1 1", "0 2 0 1").encode(),
    "an integral variable twice": PROGRAM.replace("INT 2 0 1", "INT 2 0 0").encode(),
    "an integral variable that is none": PROGRAM.replace("INT 2 0 1", "INT 2 0 2").encode(),
    "an unknown section": PROGRAM.replace("INT 2 0 1", "INT 1 0 1").encode(),
    "a maximisation": PROGRAM.replace("min", "max").encode(),
    "no last use": f"{PROGRAM}DER 1 {TWICE.replace('} -1', '} -2')}".encode(),
    "another version": PROGRAM.replace("1.0", "0.9").encode() + f"DER 1 {TWICE}".encode(),
    "a second objective": PROGRAM.encode() + f"DER 1 {TWICE}\nOBJ min 0".encode(),
    "sections in another order": PROGRAM.replace("SOL 0\n", "").encode()
    + f"DER 1 {TWICE}\nSOL 0".encode(),
    "two names": PROGRAM.replace("x y", "x x").encode() + f"DER 1 {TWICE}".encode(),
    "more bounds than rows": PROGRAM.replace("CON 2 0", "CON 2 2").encode(),
    "an empty range": PROGRAM.replace("3 inf", "3 2").encode(),
    "a claim without steps": PROGRAM.replace("range 3", "range 2")
    .replace("2 0 1 1 1\nCON", "1 1 1\nCON")
    .encode()
    + b"DER 0",
    "an exponent": PROGRAM.replace("low G 2", "low G 1e999999999").encode(),
    "other digits": PROGRAM.replace("low G 2", "low G \u0662").encode(),
    "digits in groups": PROGRAM.replace("low G 2", "low G 1_0").encode(),
    "something after the end": PROGRAM.encode() + f"DER 2 {HALVES} {ROUNDED} end".encode(),
    "no text": b"\xff",
    "no file": None,
}


def test_what_the_file_says_of_its_program_is_printed_as_unchecked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.modules[__name__], "PROGRAM", f"% claim: no more than 3\n{PROGRAM}")
    check(tmp_path, monkeypatch, HALVES, "rounded G 3 2 0 1 1 1 { rnd 1 2 1 } -1")
    head, _, rest = capsys.readouterr().out.partition("not checked here")
    assert "proven: " in head and "claim: no more than 3\n" in rest


@pytest.mark.parametrize("content", NO_PROOFS.values(), ids=NO_PROOFS)
def test_what_is_no_proof_has_one_line_of_error(tmp_path, monkeypatch, capsys, content):
    file = tmp_path / "proof.vipr"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(sys, "argv", ["check_proof.py", str(file)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples" / "check_proof.py"), run_name="__main__")
    said = capsys.readouterr().out + str(ended.value.code)
    assert "NOT proven: " in said or f"{file} cannot be read: " in said
