"""The list of the papers' figures: what draws them knows them, and its tables are read."""

import re
import sys
from pathlib import Path

import pytest

from benchmarks.papers import __main__ as papers
from benchmarks.papers import (
    bag,
    cli_arguments,
    coreservation,
    execution,
    experiments,
    feedback,
    grid,
    multistage,
    overhead,
)
from benchmarks.papers.figure_index import MODULES, PAPERS, Entry, entries

KNOWN = {
    "execution": execution.FIGURES,
    "admission": tuple(experiments.EXPERIMENTS),
    "multistage": multistage.FIGURES,
    "overhead": tuple(overhead.FIGURES),
    "feedback": tuple(feedback.FIGURES),
    "coreservation": tuple(coreservation.experiments(1)),
    "grid": grid.FIGURES,
    "bag": tuple(bag.FIGURES),
}
TABLE = """
3 seeds
| figure | claim | sound | as printed | sound: otherwise | as printed: otherwise |
|---|---|---|---|---|---|
| Mamat 2011, 4.6 | a rejects less | **holds**: 1.0 points | **only**: 3 of 10 points | robust | |
| Mamat 2011, 4.6 without set-up costs | a | **does not**: 0 | no variant | open: b | - |
| Mamat 2011, 4.10-4.12 | b rejects less | **holds**: 2 | **-**: | not simulated | robust |

| figure | claim | drop | verdict | GDS: otherwise |
|---|---|---|---|---|
| Liu et al. 2007, 7 | c | **holds** | robust | not simulated |
| Liu et al. 2007, 7 | d | **open**: 1 | depends on late tasks | robust |
| Liu et al. 2007, 7 | d | **only**: 1 | about GDS alone | open: e |

| load | gain |
|---|---|
| 4.6 | 2 |
"""


def test_what_draws_a_figure_knows_it_by_its_name():
    for entry in entries():
        assert (entry.module is None) == (entry.reason is not None)
        if entry.module in KNOWN:
            assert set(entry.known_as) <= set(KNOWN[entry.module]), entry
    drawn = {name for entry in entries() for name in entry.known_as if entry.module == "admission"}
    assert drawn == set(KNOWN["admission"])
    assert {entry.module for entry in entries()} == {None, *MODULES}
    labels = [(entry.paper, entry.label) for entry in entries()]
    assert len(labels) == len(set(labels)) == 124


def test_figures_are_found_by_number_and_by_paper():
    assert [entry.paper for entry in papers.named("4.6")] == [PAPERS["mamat"], PAPERS["min"]]
    assert [entry.paper for entry in papers.named("min:4.6")] == [PAPERS["min"]]
    assert len(papers.named("lin")) == 10
    assert len(papers.named("4.6,min:4.6, 4.6")) == 2
    for name, told in (
        ("9.9", "no figure '9.9'"),
        ("kim:4.6", "no paper 'kim'"),
        ("min:4.9", "no"),
    ):
        with pytest.raises(ValueError, match=told):
            papers.named(name)


def test_a_module_is_asked_for_its_part_or_for_all():
    words = papers.command("admission", papers.named("mamat:4.6"), "quick", Path("out"), 1)
    assert words[2:4] == ["benchmarks.papers.admission", "--quick"]
    assert words[words.index("--only") + 1] == "4.6,4.6 without set-up costs"
    everything = [entry for entry in entries() if entry.module == "admission"]
    assert "--only" not in papers.command("admission", everything, "full", Path("out"), 1)
    words = papers.command("bag", papers.named("liu:7"), "full", Path(), 1)
    assert words[2:6] == ["benchmarks.papers.bag", "--full", "--only", "7"]
    assert words[6:] == ["--out", ".", "--processes", "1"]
    words = papers.command("coreservation", papers.named("min:5.9"), "full", Path(), 1)
    assert words[words.index("--only") + 1] == "5.9,5.9 at once"


def test_what_some_figures_of_the_grid_and_of_the_sites_need():
    few = grid.QUICK
    whole = set(grid.cases(few, grid.VARIANTS))
    parts = [set(grid.cases(few, grid.VARIANTS, (figure,))) for figure in grid.FIGURES]
    assert set[object]().union(*parts) == whole
    assert parts[0] == parts[1]
    assert {case.variant for case in parts[-1]} == {*grid.VARIANTS}
    assert all(part < whole for part in parts)
    assert bag.needed(("9",)) == {"grid"}
    assert bag.needed(("7", "settings")) == {"grid", "small", "settings"}
    assert bag.needed(("small",)) == {"small"}


def test_the_tables_of_the_modules_are_read():
    chosen = [*papers.named("mamat:4.6"), *papers.named("4.11")]
    told = [row.to_markdown() for row in papers.rows(TABLE, chosen)]
    assert told == [
        "| Mamat 2011, 4.6 | a rejects less | sound | 1.0 points | **holds** |",
        "| Mamat 2011, 4.6 | a rejects less | as printed | 3 of 10 points | **only** |",
        "| Mamat 2011, 4.6 without set-up costs | a | sound | 0 | **does not** |",
        "| Mamat 2011, 4.10-4.12 | b rejects less | sound | 2 | **holds** |",
    ]
    assert list(papers.rows(TABLE, papers.named("min"))) == []
    assert papers.verdicts(TABLE, chosen[0]) == "sound: 1 of 2; as printed: 0 of 1 (1 in part)"
    assert papers.verdicts(TABLE, Entry("x", "4.9", "")) == ""
    (sites,) = papers.named("liu:7")
    assert papers.verdicts(TABLE, sites) == "1 of 3 (1 in part, 1 open)"


def test_verdicts_that_depend_on_no_choice_are_counted():
    (streams,), (order,), (sites,) = (papers.named(name) for name in ("mamat:4.6", "4.11", "liu:7"))
    assert papers.robust(TABLE, streams) == "sound: 1 of 2"
    assert papers.robust(TABLE, order) == "as printed: 1 of 1"
    assert papers.robust(TABLE, sites) == "1 of 2; GDS: 1 of 2"
    assert papers.robust(TABLE, Entry("x", "4.9", "")) == ""


def test_the_list_of_figures_is_true():
    """What is listed is what the pages and the pictures say, and the stored list is that."""
    listed = "\n".join(papers.listing())
    assert "| Lin et al. 2005 | 1, 2, 3 | topology, timing diagrams | not drawn" in listed
    for file in re.findall(r"papers/figures/([^)]*)", listed):
        assert (cli_arguments.FIGURES / file).exists()
    for page in {entry.page for entry in entries() if entry.page}:
        assert (papers.RESULTS / f"{page}.md").exists()
    assert listed in (papers.RESULTS / "figures.md").read_text(encoding="utf-8")


def test_arguments_of_all_modules():
    parser = cli_arguments.parser("some", "Draw.", ("1", "2", "3"))
    assert parser.parse_args(["--only", "3, 1"]).only == ("1", "3")
    for words, expected in ((["--quick"], 1), ([], 2), (["--full"], 3)):
        assert cli_arguments.size(parser.parse_args(words), 1, 2, 3) == expected
    with pytest.raises(SystemExit):
        parser.parse_args(["--only", "4"])


def test_rows_that_are_stored_are_in_a_file(monkeypatch, capsys):
    parser = cli_arguments.parser("some", "Draw.", ("1",), rows=True, stored=True)
    monkeypatch.setattr(sys, "argv", ["some", "--stored", "--rows", "rows.jsonl"])
    assert cli_arguments.given(parser).rows == Path("rows.jsonl")
    monkeypatch.setattr(sys, "argv", ["some", "--stored"])
    with pytest.raises(SystemExit):
        cli_arguments.given(parser)
    assert capsys.readouterr().err.endswith("error: --stored needs --rows FILE\n")
