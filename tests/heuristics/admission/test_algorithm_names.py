"""What algorithms there are, and what they are called."""

import inspect

import pytest

from dlopt import registry
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission import methods
from dlopt.heuristics.admission.algorithm_names import Algorithm
from tests.heuristics.admission.strategies import LITERAL, PROMISING, REGISTERED, SOUND, TWINS


@pytest.mark.parametrize("name", REGISTERED)
def test_a_name_is_read_and_said_again(name):
    algorithm = Algorithm.parse(name)
    assert algorithm.name == name
    assert Algorithm.parse(algorithm.name) == algorithm
    assert algorithm.channel is not name.endswith(":literal")
    assert algorithm.control is not name.endswith("-anna")


def test_the_registry_has_all_algorithms():
    assert len(REGISTERED) == len(set(REGISTERED)) == 34
    assert len(SOUND) == len(LITERAL) + 2 == len(PROMISING) + 2 == 18
    assert {name.removesuffix(":literal") for name in LITERAL} == set(PROMISING)
    assert set(REGISTERED) - set(TWINS) == {"edf-iit-1", "edf-iit-1:literal"}


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("fifo-opr-an", ("fifo", "opr", "an", True, True)),
        ("edf-epr-mn:literal", ("edf", "epr", "mn", True, False)),
        ("mwf-epr-mn", ("mwf", "epr", "mn", True, True)),
        ("fifo-iit-mn", ("fifo", "iit", "mn", True, True)),
        ("edf-iit-1:literal", ("edf", "iit-1", "mn", True, False)),
        ("edf-iit-2", ("edf", "iit", "mn", True, True)),
        ("mcdf", ("mcdf", "opr", "mn", True, True)),
        ("fifo-anna", ("fifo", "opr", "an", False, True)),
        ("edf-anna:literal", ("edf", "opr", "an", False, False)),
    ],
)
def test_a_name_says_the_choices(name, choices):
    assert Algorithm.parse(name) == Algorithm(*choices)
    assert Algorithm(*choices).name == name


def test_edf_iit_2_has_a_second_name():
    assert Algorithm.parse("edf-iit-mn") == Algorithm.parse("edf-iit-2")
    assert Algorithm.parse("edf-iit-mn:literal").name == "edf-iit-2:literal"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "edf",
        "edf-opr",
        "edf-opr-",
        "edf-opr-mn-",
        "edf-opr-mn-an",
        "lifo-opr-mn",
        "edf-opt-mn",
        "edf-opr-mm",
        "EDF-OPR-MN",
        " edf-opr-mn",
        "fifo-iit-1",
        "fifo-iit-2",
        "edf-iit-1-mn",
        "mcdf-opr-mn",
        "mcdf-anna",
        "mwf-anna",
        "anna",
    ],
)
def test_no_such_name(name):
    with pytest.raises(NotApplicableError, match=r"unknown algorithm .*; names are .*mcdf"):
        Algorithm.parse(name)


@pytest.mark.parametrize("slip", ["", "Literal", "literal-F1", "literal:literal"])
def test_no_such_slip(slip):
    with pytest.raises(NotApplicableError, match="unknown algorithm 'edf-opr-mn:"):
        Algorithm.parse(f"edf-opr-mn:{slip}")


@pytest.mark.parametrize("name", [None, 5, b"mcdf", ("edf", "opr", "mn")])
def test_a_name_is_text(name):
    with pytest.raises(NotApplicableError, match="an algorithm's name is needed, not a "):
        Algorithm.parse(name)


@pytest.mark.parametrize("name", ["mwf-iit-mn", "mwf-opr-an", "mwf-epr-an", "mwf-iit-an"])
def test_mwf_needs_nodes_that_start_together(name):
    with pytest.raises(NotApplicableError, match="mwf is defined for opr or epr"):
        Algorithm.parse(name)


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        (
            {"order": "lifo"},
            r"unknown order .lifo. \(did you mean fifo\? known: fifo, edf, mwf, mcdf\)",
        ),
        ({"order": "edf", "partition": "iit-2"}, "unknown partition 'iit-2'"),
        ({"order": "edf", "assignment": "max"}, r"unknown assignment 'max' \(known: mn, an\)"),
        ({"order": "mcdf", "partition": "epr"}, "mcdf is defined for opr"),
        ({"order": "mcdf", "assignment": "an"}, "mcdf is defined for opr"),
        ({"order": "mwf", "partition": "iit-1"}, "mwf is defined"),
        ({"order": "edf", "partition": "iit-1", "assignment": "an"}, "iit-1 is defined for edf"),
        ({"order": "fifo", "partition": "iit-1"}, "iit-1 is defined for edf"),
        ({"order": "edf", "control": False}, "without admission control"),
        ({"order": "mwf", "control": False}, "without admission control"),
        ({"order": "mcdf", "control": False}, "without admission control"),
        (
            {"order": "edf", "partition": "epr", "assignment": "an", "control": False},
            "without admission control: fifo or edf, opr, on all nodes",
        ),
        (
            {"order": "fifo", "partition": "iit", "assignment": "an", "control": False},
            "without admission control",
        ),
    ],
)
def test_choices_that_do_not_go_together(choices, reason):
    with pytest.raises(NotApplicableError, match=reason):
        Algorithm(**choices)


@pytest.mark.parametrize("name", REGISTERED)
def test_the_method_of_a_name(name):
    entry = registry.method("admission", name)
    attribute = str(entry.target).partition(":")[2]
    method = entry.load()
    assert inspect.unwrap(method) is getattr(methods, attribute)
    assert method.__name__ == attribute
    assert entry.claim == ("literal-unsound" if name in LITERAL else "sound")


@pytest.mark.parametrize("attribute", ["lifo_opr_mn", "edf_iit_2_literal_literal", "__path__", "x"])
def test_no_such_method(attribute):
    with pytest.raises(AttributeError, match=f"has no attribute '{attribute}'"):
        getattr(methods, attribute)
