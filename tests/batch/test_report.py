"""The report: a page that stands alone, says what is wrong, and lets no text pass for HTML."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dlopt import Limits, NotApplicableError, Status
from dlopt.batch import Failure, Record, write_report
from dlopt.batch.record_reading import record_from_line
from tests.batch.test_metrics import EXACT, OPR, record

EVIL = "<script>alert('x')</script>&\"\u2603"
VOID = frozenset({"meta", "line", "img"})


class Page(HTMLParser):
    """What stands in a page; an end without a beginning is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.links += [values["href"] or ""] if "href" in values else []
        self.sources += [values["src"] or ""] if "src" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(folder: Path, *records: Record, **options: object) -> Page:
    file = folder / "report.html"
    write_report(records, file, **options)  # type: ignore[arg-type]
    return Page(file.read_text(encoding="utf-8"))


def test_what_stands_in_a_page(tmp_path: Path) -> None:
    second = replace(record("mine", Status.OPTIMAL, 4, 4, runtime_s=1.0), family="g")
    page = page_of(tmp_path, EXACT, OPR, second, title="Mine")
    assert page.text.startswith("Mine") and "1 instance, 1 with a proven optimum" in page.text
    assert "opr 1 1 0 0 0 0 0 25.00% 25.00% 25.00% 500 ms" in page.text
    assert "Mean gap to optimum by family method f g opr 25.00% - exact 0.00% -" in page.text
    assert "Certified optima problem method optima certified share" in page.text
    assert "iit exact 1 0 0.00% 0 -" in page.text
    assert page.tags.count("figure") == 3
    assert "one f 4 optimum exact, mine" in page.text


def test_methods_that_ran_on_fewer_instances_are_named(tmp_path: Path) -> None:
    other = replace(EXACT, instance="two", key=replace(EXACT.key, hash="two"))
    text = "Gaps on some of the instances only, so not comparable with those on all: opr (1 of 2)."
    assert text in page_of(tmp_path, EXACT, OPR, other).text
    assert "not comparable" not in page_of(tmp_path, EXACT, OPR).text


def test_a_method_with_plans_of_a_wider_class_has_no_gap_and_the_page_says_why(
    tmp_path: Path,
) -> None:
    wide = record("mine", Status.FEASIBLE, 5, plan_class="any")
    assert write_report([OPR, wide], tmp_path / "report.html").unmeasured == []
    message = "mine has no gap: no optimum or bound is proven for its plan class (any)"
    assert f"{message}." in page_of(tmp_path, EXACT, wide).text
    assert write_report([EXACT, wide], tmp_path / "report.html").unmeasured == [message]


def test_solvers_are_named_once_with_their_versions(tmp_path: Path) -> None:
    records = [
        replace(record(name, Status.OPTIMAL, 4, 4), solver=solver, solver_version=version)
        for name, solver, version in (
            ("a", "HiGHS", "1.12.0"),
            ("b", "CP-SAT+HiGHS", None),
            ("c", "HiGHS+CP-SAT", "1.12.0"),
            ("d", "HiGHS", "1.11.0"),
            ("e", "HiGHS+GLOP", "1.12.0+9.15"),
        )
    ]
    assert "; CP-SAT; GLOP 9.15; HiGHS 1.11.0 1.12.0. Limits" in page_of(tmp_path, *records).text


def test_a_page_needs_nothing_beside_it(tmp_path: Path) -> None:
    page = page_of(tmp_path, EXACT, OPR)
    assert not {"script", "link", "iframe", "object", "style"} & set(page.tags) - {"style"}
    assert page.sources == [] and all(link.startswith("#") for link in page.links)
    text = (tmp_path / "report.html").read_text()
    assert not re.search(r"https?://|url\(|@import", text) and "default-src 'none'" in text


def test_texts_stay_texts(tmp_path: Path) -> None:
    evil = {"instance": EVIL, "family": EVIL, "reason": EVIL, "solver": EVIL}
    records = [replace(one, **evil) for one in (EXACT, OPR)]  # type: ignore[arg-type]
    records.append(replace(record(EVIL, Failure.INVALID, plan_class=None), **evil))  # type: ignore[arg-type]
    page = page_of(tmp_path, *records, title=EVIL)
    assert "script" not in page.tags and page.text.count(EVIL) >= 7


def test_what_is_wrong_stands_first(tmp_path: Path) -> None:
    better = record("opr", Status.FEASIBLE, 3)
    wrong, *_ = write_report([EXACT, better], tmp_path / "report.html")
    assert [evaluated.record for evaluated in wrong] == [better]
    text = Page((tmp_path / "report.html").read_text()).text
    assert "opr on one (iit, completion): 3 is better than the proven optimum 4" in text
    assert write_report([EXACT, OPR], tmp_path / "report.html") == ([], [], [])


def test_troubles_are_told(tmp_path: Path) -> None:
    dead = record("opr", Failure.CRASHED, plan_class=None, reason="of SIGABRT")
    slip = record("epr", Status.UNSOUND, 3, violations=2)
    text = page_of(tmp_path, EXACT, dead, slip).text
    assert "1 crashed, 1 unsound." in text and "iit one opr crashed of SIGABRT" in text
    assert "iit one epr unsound 2 violations" in text and "epr 1 unsound" in text
    many = [record("opr", Failure.CRASHED, plan_class=None, seed=seed) for seed in range(205)]
    assert "5 more are in the file of records" in page_of(tmp_path, *many).text


def test_pictures_as_links_and_inline(tmp_path: Path) -> None:
    drawing = tmp_path / "records" / "a b#.svg"
    drawing.parent.mkdir()
    drawing.write_text("<svg/>")
    records = [
        replace(EXACT, picture="a b#.svg"),
        replace(OPR, picture="lost.svg"),
    ]
    linked = page_of(tmp_path, *records, home=drawing.parent)
    assert "records/a%20b%23.svg" in linked.links
    inline = page_of(tmp_path, *records, home=drawing.parent, pictures="inline")
    assert inline.sources == ["data:image/svg+xml;base64,PHN2Zy8+"]
    assert "opr: no file" in inline.text
    none = page_of(tmp_path, *records, home=drawing.parent, pictures="none")
    assert none.sources == [] and not any("svg" in link for link in none.links)


def test_numbers_that_are_extreme(tmp_path: Path) -> None:
    """None of them, and no quotient or sum of them, is beyond the floats that a page is made of."""
    tiny = Fraction(1, 10**400)
    records = [
        record("exact", Status.OPTIMAL, tiny, tiny, runtime_s=1e15, limits=Limits(1e308)),
        record("any", Status.OPTIMAL, tiny, tiny, runtime_s=5e-324),
        record("opr", Status.FEASIBLE, 10**400, runtime_s=0.0),
        record("epr", Status.FEASIBLE, 10**400, runtime_s=1e15, hash="b"),
        record("epr", Status.FEASIBLE, 10**400, seed=1),
    ]
    for one in records:
        assert record_from_line(one.to_line()) == one
    text = page_of(tmp_path, *records).text
    assert "1e-400" in text and "1e+15 s" in text and "1e+308 s" in text
    assert "1e+302%" in text and "0" * 99 not in text


def test_no_row_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match="no records"):
        write_report([], tmp_path / "report.html")


def test_a_page_of_all_problems(tmp_path: Path) -> None:
    levels = {"problem": "bag", "objective": "critical-then-all", "plan_class": "any"}
    records = [
        EXACT,
        record("exact", Status.OPTIMAL, (4, 9), (4, 9), **levels),
        record("x", Status.LIMIT, plan_class=None, problem="dag", objective="makespan"),
    ]
    page = page_of(tmp_path, *records)
    assert page.links == [
        "#iit-completion",
        "#dag-makespan",
        "#bag-critical-then-all",
    ]
    assert "(4, 9)" in page.text


def test_a_browser_shows_it(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    browser = browser or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    page_of(tmp_path, EXACT, OPR, record("mine", Status.OPTIMAL, 4, 4, runtime_s=1.0))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'u'}"]
    flags += ["--window-size=1200,900", f"--screenshot={tmp_path / 'page.png'}"]
    url = (tmp_path / "report.html").as_uri()
    done = subprocess.run([browser, *flags, url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Refused to" not in done.stderr  # what the page's own policy forbids
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    shown = subprocess.run(
        [browser, *flags[:-1], "--dump-dom", url], capture_output=True, text=True, timeout=120
    )
    assert shown.stdout.count("<figure>") == 3 and "25.00%" in shown.stdout
