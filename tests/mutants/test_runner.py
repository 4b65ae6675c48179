"""The runner of mutants, on a repository that is made up."""

import subprocess
from pathlib import Path

import pytest

from tests.mutants import __main__ as command
from tests.mutants import runner
from tests.mutants.runner import BROKEN, KILLED, SURVIVED, Mutant, read, tree, tried, try_all

CODE = "def twice(x):\n    return 2 * x\n"
TESTS = """from code_of_it import twice

def test_twice():
    assert twice(3) == 6

def test_nothing():
    assert twice(0) == 0
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # which take most of the start
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_cov")  # it knows --no-cov
    root = tmp_path / "made"
    root.mkdir()
    (root / "code_of_it.py").write_text(CODE)
    (root / "test_it.py").write_text(TESTS)
    (root / "link.py").symlink_to("code_of_it.py")
    return root


def mutant(name="one", old="2 * x", new="3 * x", tests=("test_it.py",), **more):
    return Mutant("list", name, "code_of_it.py", old, new, tests, "It is wrong.", **more)


def test_mutants_are_killed_survive_or_are_broken_in_their_order(made):
    outcomes = list(
        try_all(
            [
                mutant("killed"),
                mutant("survives", tests=("test_it.py::test_nothing",)),
                mutant("cannot be read", new="2 * * x"),
                mutant("stale", old="5 * x"),
            ],
            made,
            jobs=2,
        )
    )
    assert [(one.mutant.name, one.said) for one in outcomes] == [
        ("killed", KILLED),
        ("survives", SURVIVED),
        ("cannot be read", BROKEN),
        ("stale", BROKEN),
    ]
    assert outcomes[2].detail.startswith("not collected")
    assert outcomes[3].detail == "the old text occurs 0 times in code_of_it.py"
    assert (made / "code_of_it.py").read_text() == CODE


def test_tests_must_pass_without_a_mutant(made):
    (made / "test_it.py").write_text(TESTS.replace("6", "7"))
    with pytest.raises(RuntimeError, match="without a mutant"):
        list(try_all([mutant()], made))


@pytest.mark.parametrize(
    ("code", "hangs", "said"),
    [
        (0, False, SURVIVED),
        (1, False, KILLED),
        (2, False, BROKEN),
        (4, False, BROKEN),
        (5, False, BROKEN),
        (-11, False, BROKEN),
        (None, False, BROKEN),
        (None, True, KILLED),
        (0, True, SURVIVED),
    ],
)
def test_only_a_failed_test_kills(code, hangs, said, made, monkeypatch):
    seen = []

    def run(folder, tests, limit, cache):
        seen.append((folder / "code_of_it.py").read_text())
        return code, ""

    monkeypatch.setattr(runner, "run", run)
    assert tried(mutant(hangs=hangs), made).said == said
    assert seen == [CODE.replace("2 * x", "3 * x")]
    assert (made / "code_of_it.py").read_text() == CODE


def test_the_code_is_restored_if_tests_cannot_be_run(made, monkeypatch):
    def run(*_):
        raise OSError

    monkeypatch.setattr(runner, "run", run)
    with pytest.raises(OSError):
        tried(mutant(), made)
    assert (made / "code_of_it.py").read_text() == CODE


def test_what_does_not_end_has_no_exit_code(made, monkeypatch):
    def never(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(runner.subprocess, "run", never)
    assert runner.run(made, ["test_it.py"], 9.0, made)[0] is None


@pytest.mark.parametrize("compiled", [True, False])
def test_a_mutant_of_compiled_code_uses_no_kept_code(compiled, made, monkeypatch):
    if compiled:
        (made / "code_of_it.py").write_text(f"# numba\n{CODE}")
    caches = []
    monkeypatch.setattr(
        runner, "run", lambda folder, tests, limit, cache: (caches.append(cache), (1, ""))[1]
    )
    tried(mutant(), made)
    tried(mutant(), made)
    assert len(set(caches)) == (2 if compiled else 1)


def test_a_copy_keeps_links(made, tmp_path):
    copied = runner.copy(made, tmp_path / "copy")
    assert (copied / "link.py").is_symlink()
    assert (copied / "link.py").read_text() == CODE


def test_of_a_repository_only_what_is_not_ignored_is_copied(made):
    subprocess.run(["git", "init", "-q"], cwd=made, check=True)
    (made / ".gitignore").write_text("*.log\n")
    (made / "much.log").write_text("")
    names = {path.as_posix() for path in tree(made)}
    assert names == {".gitignore", "code_of_it.py", "link.py", "test_it.py"}


def test_what_is_wrong_with_an_entry_is_told(made):
    assert mutant().faults(made) == []
    assert mutant(tests=("test_it.py::test_twice[3]",)).faults(made) == []
    assert mutant(old="x").faults(made) == ["the old text occurs 2 times in code_of_it.py"]
    assert mutant(new="2 * x").faults(made) == ["the new text is the old one"]
    assert mutant(tests=()).faults(made) == ["no test must kill it"]
    assert mutant(tests=("none.py",)).faults(made) == ["no test file none.py"]
    assert mutant(tests=("test_it.py::test_none",)).faults(made) == [
        "no test test_it.py::test_none"
    ]
    assert Mutant("", "", "none.py", "", "x", ("test_it.py",), "").faults(made) == [
        "no file none.py"
    ]


ENTRY = """[[mutant]]
name = "{name}"
file = "code_of_it.py"
old = "2"
new = "3"
killed_by = ["test_it.py"]
why = "It is wrong."
"""


def test_lists_are_read(tmp_path):
    (tmp_path / "b.toml").write_text(ENTRY.format(name="two") + "hangs = true\n")
    (tmp_path / "a.toml").write_text(ENTRY.format(name="one"))
    assert [(one.area, one.name, one.hangs) for one in read(tmp_path)] == [
        ("a", "one", False),
        ("b", "two", True),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ENTRY.format(name="one") + ENTRY.format(name="one"), "named one"),
        (ENTRY.format(name="one") + "by = 3\n", "fields by"),
        (ENTRY.format(name="one").replace('why = "It is wrong."\n', ""), "fields why"),
    ],
)
def test_a_list_that_is_wrong_is_refused(text, told, tmp_path):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ValueError, match=told):
        read(tmp_path)


@pytest.mark.parametrize(
    ("said", "code"), [((KILLED, KILLED), 0), ((KILLED, SURVIVED), 1), ((BROKEN, KILLED), 1)]
)
def test_the_command_fails_unless_all_are_killed(said, code, monkeypatch, capsys):
    both = [mutant("one"), mutant("two")]
    monkeypatch.setattr(command, "read", lambda: both)
    outcomes = [runner.Outcome(one, what) for one, what in zip(both, said, strict=True)]
    monkeypatch.setattr(command, "try_all", lambda mutants, **_: iter(outcomes))
    assert command.main([]) == code
    assert "2 mutants: " in capsys.readouterr().out


def test_the_command_fails_if_there_is_nothing_to_try(monkeypatch, capsys):
    monkeypatch.setattr(command, "read", lambda: [mutant("one")])
    assert command.main(["--only", "two"]) == 1
    assert command.main(["--area", "other"]) == 1

    def failing(mutants, **_):
        raise RuntimeError("the tests fail")

    monkeypatch.setattr(command, "try_all", failing)
    assert command.main(["--only", "one", "--area", "list"]) == 1
    assert "the tests fail" in capsys.readouterr().out


def test_the_lists_are_beside_the_runner():
    assert Path(__file__).parent == runner.LISTS
