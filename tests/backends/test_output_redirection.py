"""What solvers print by themselves does not reach the standard output of the program."""

import ctypes
import sys
import threading

import pytest

from dlopt.backends import highs
from dlopt.backends.output_redirection import solver_output_to_stderr

LIBRARY = ctypes.CDLL(None)


def say(text: bytes) -> None:
    LIBRARY.printf(b"%s\n", text)
    LIBRARY.fflush(None)


def test_what_c_code_prints_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    say(b"before")
    with solver_output_to_stderr():
        say(b"within")
        sys.stdout.write("Python\n")
        sys.stdout.flush()
    say(b"after")
    written = capfd.readouterr()
    assert written.out.split() == ["before", "Python", "after"]
    assert written.err.split() == ["within"]


def test_it_lasts_until_the_last_of_several_solvers_ends(
    capfd: pytest.CaptureFixture[str],
) -> None:
    inside, done = threading.Event(), threading.Event()

    def solve() -> None:
        with solver_output_to_stderr():
            inside.set()
            done.wait()

    with solver_output_to_stderr():
        thread = threading.Thread(target=solve)
        thread.start()
        inside.wait()
    say(b"one still runs")
    done.set()
    thread.join()
    say(b"none runs")
    written = capfd.readouterr()
    assert (written.out, written.err) == ("none runs\n", "one still runs\n")


def test_it_ends_with_an_error_too(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError), solver_output_to_stderr():
        raise RuntimeError
    say(b"after")
    assert capfd.readouterr().out == "after\n"


class PrintingModel:
    """Stands for a model of HiGHS, whose search prints a line by itself."""

    def setOptionValue(self, name: str, value: object) -> None: ...  # noqa: N802

    def setCallback(self, callback: object, data: object) -> None: ...  # noqa: N802

    def startCallback(self, kind: object) -> None: ...  # noqa: N802

    def run(self) -> None:
        say(b"HighsMipSolverData")


def test_highs_prints_nothing_on_standard_output_whichever_way_it_is_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    highs.run(PrintingModel())
    say(b"after")
    written = capfd.readouterr()
    assert (written.out, written.err) == ("after\n", "HighsMipSolverData\n")
