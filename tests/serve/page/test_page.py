"""What people see of a real service in a real browser."""

import re
import subprocess
import time
from fractions import Fraction

import pytest

from dlopt import io
from dlopt.generation import generate
from dlopt.json_files import load_json
from tests.serve.page.page_of_service import ServicePage, send
from tests.serve.running_service import ROOT, RunningService

# The browser has an event loop in the main thread as long as it is open: nothing else runs between.

DAY = [
    {"task": {"id": "scan", "arrival": 0, "load": 6, "deadline": 20}},
    {"reservation": {"id": "demo", "arrival": 0, "start": 16, "end": 24, "nodes": 3}},
    {"task": {"id": "index", "arrival": 0, "load": "8/3", "deadline": 30}},
    {"task": {"id": "too-much", "arrival": 1, "load": 80, "deadline": 20}},
]
TOKEN = "0123456789abcdef0123"


@pytest.fixture
def service(tmp_path):
    with RunningService(tmp_path) as running:
        yield running.address


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory):
    """A service for tests that look at a book or a job of their own."""
    with RunningService(tmp_path_factory.mktemp("service")) as running:
        yield running.address


@pytest.fixture
def open_page(browser):
    tabs = []

    def opened(address, place="", **options):
        page = ServicePage(browser, address, **options)
        tabs.append(page.tab)
        page.open(place)
        return page

    yield opened
    for tab in tabs:
        tab.close()


def fill_book(address, name="night"):
    """Make a book with a day's promises."""
    cluster = {"nodes": 4, "tau": 1, "chi": 3}
    send(address, "PUT", f"/v1/books/{name}", {"problem": "multistage", "cluster": cluster})
    answers = [send(address, "POST", f"/v1/books/{name}/submit", body) for body in DAY]
    assert [answer["decision"]["accepted"] for answer in answers] == [True, True, True, False]


def long_job(address):
    """Start a job that takes much longer than a test."""
    data = load_json(ROOT / "instances" / "admission" / "random-30.json")
    body = {"kind": "solve", "method": "exact", "instance": data, "limits": {"time_s": 600}}
    return send(address, "POST", "/v1/jobs", body)["id"]


def test_an_empty_service_says_how_to_begin_and_what_it_says_works(service, open_page):
    page = open_page(service)
    page.picture("empty")
    commands = page.text("#begin-book") + "\n\n" + page.text("#begin-job")
    subprocess.run(["bash", "-euc", commands.replace("curl ", "curl -fsS ")], check=True)
    page.wait_for_text("#books", "first")
    page.wait_for_text("#book-title", "Book first")
    page.wait_for_text("#jobs", "done")
    assert not page.tab.is_visible("#begin")
    assert page.complaints == []


def test_a_book_is_drawn_as_its_plan_says_and_follows_it(service, open_page):
    fill_book(service)
    page = open_page(service, "#books/night")
    page.wait_for_text("#promises", "index")
    page.picture("book")
    plan = send(service, "GET", "/v1/books/night/plan")["plan"]
    kinds = {"transmission": 2 * len(plan["chunks"]), "computation": len(plan["chunks"])}
    kinds["reservation"] = 3
    for kind, count in kinds.items():
        assert page.tab.locator(f"#gantt .bar.{kind}").count() == count
    last = max(plan["chunks"], key=lambda chunk: Fraction(chunk["computation_end"]))
    titles = page.tab.locator("#gantt .bar.computation title").all_text_contents()
    end = f"{float(Fraction(last['computation_end'])):.6g}"
    assert any(f"node {last['node']}" in title and end in title for title in titles)
    assert "now 0" in page.tab.text_content("#gantt")
    assert "4" not in page.text("#gantt-left-out")
    assert re.search(r"rejected\s+1\b", page.text("#book-facts"))
    assert "reservation" in page.text("#gantt-legend")
    assert "Gantt chart of book night" in page.tab.get_attribute("#gantt svg", "aria-label")

    send(service, "POST", "/v1/books/night/advance", {"now": 5})
    page.wait_for_text("#gantt", "now 5")
    assert re.search(r"scan\s+task\s+running", page.text("#promises"))
    assert page.complaints == []


def test_of_thousands_of_promises_the_nearest_are_drawn_and_the_rest_is_counted(
    shared_service, open_page
):
    machines = [{"id": f"machine-{index}", "capacity": 8} for index in range(20)]
    send(
        shared_service, "PUT", "/v1/books/many", {"problem": "coreservation", "machines": machines}
    )
    requests = [
        {
            "id": f"request-{index}",
            "arrival": 0,
            "start": index // 40,
            "end": index // 40 + 3,
            "priority": 1,
            "parts": [{"cpu": 1, "cpu_min": 1, "benefit": [[0, 0], [1, 1]]}],
        }
        for index in range(3000)
    ]
    send(shared_service, "POST", "/v1/books/many/submit", {"requests": requests})
    page = open_page(shared_service, "#books/many")
    page.wait_for_text("#gantt-left-out", "Left out")
    page.picture("many")
    drawn, every, *left_out = [
        int(number.replace(",", ""))
        for number in re.findall(r"([\d,]+) (?:of|alloc|that)", page.text("#gantt-left-out"))
    ]
    assert page.tab.locator("#gantt rect.bar").count() == drawn <= 600
    assert every == 3000 and drawn + sum(left_out) == every
    assert page.tab.locator("#promises tbody tr").count() == 50
    assert "2,950 more are not listed." in page.text("#promises-left-out")

    page.tab.click("[data-view=later]")
    page.wait_for_text("#gantt-left-out", "that ended before")
    page.tab.click("[data-view=reset]")
    page.wait_for_text("#gantt", "now 0")


def test_a_job_is_followed_and_stopped_with_its_best_schedule(shared_service, open_page):
    job = long_job(shared_service)
    page = open_page(shared_service, f"#jobs/{job}")
    page.wait_for("#convergence path.line.value")
    page.wait_for_text("#job-facts", "running")
    page.picture("job-running")
    page.wait_for("#convergence path.line.bound")
    assert re.search(r"bound [\d,.]+", page.tab.text_content("#convergence"))
    page.tab.click("#cancel")
    page.wait_for_text("#job-facts", "cancelled")
    page.wait_for_text("#results", "feasible")
    assert not page.tab.is_visible("#cancel")
    page.tab.click("#plot-link")
    page.wait_for("#picture img")
    page.tab.evaluate("document.querySelector('#picture img').decode()")
    page.picture("job-stopped")
    with page.tab.expect_download() as download:
        page.tab.click("#result-link")
    assert load_json(download.value.path())["status"] == "feasible"
    assert page.complaints == []


def test_incumbents_and_bounds_are_drawn_as_they_were_reported(shared_service, open_page):
    instance = generate("bag", "braun", seed=1, tasks=60, machines=6, numbers="integer")
    body = {"kind": "solve", "method": "exact", "instance": io.instance_to_data(instance)}
    job = send(shared_service, "POST", "/v1/jobs", body | {"limits": {"time_s": 3}})["id"]
    page = open_page(shared_service, f"#jobs/{job}")
    page.wait_for("#results tbody tr")
    page.picture("job-done")
    assert page.tab.locator("#convergence circle.value").count() >= 1
    assert page.complaints == []


def test_answers_of_other_kinds_of_jobs_are_shown(shared_service, open_page):
    data = load_json(ROOT / "instances" / "iit" / "three-nodes.json")
    compared = send(shared_service, "POST", "/v1/jobs", {"kind": "compare", "instance": data})["id"]
    question = {"kind": "check", "instance": data, "solution": {"chunks": []}}
    checked = send(shared_service, "POST", "/v1/jobs", question)["id"]
    page = open_page(shared_service, f"#jobs/{compared}")
    page.wait_for_text("#results", "bound-fluid")
    rows = send(shared_service, "GET", f"/v1/jobs/{compared}/result")["rows"]
    assert page.tab.locator("#results tbody tr").count() == len(rows)
    page.open(f"#jobs/{checked}")
    page.wait_for_text("#answer", "load-not-conserved")
    assert not page.tab.is_visible("#results")
    assert page.complaints == []


def test_of_many_nodes_those_are_shown_that_have_something(shared_service, open_page):
    body = {"problem": "multistage", "clock": "wall", "exact_numbers": False}
    body["cluster"] = {"nodes": 300, "tau": 0.01, "chi": 100.5}
    send(shared_service, "PUT", "/v1/books/wall", body)
    task = {"id": "one", "load": 10.5, "deadline": 100_000}
    send(shared_service, "POST", "/v1/books/wall/submit", {"task": task})
    start = time.time() + 600
    reservation = {"id": "two", "start": start, "end": start + 600, "nodes": [7, 298, 299]}
    send(shared_service, "POST", "/v1/books/wall/submit", {"reservation": reservation})
    page = open_page(shared_service, "#books/wall")
    page.wait_for_text("#promises", "two")
    page.picture("wall-clock")
    names = page.tab.locator("#gantt svg > text.axis").all_text_contents()
    assert {"channel", "node 0", "node 7", "node 298", "node 299"} <= set(names)
    assert "node 150" not in names
    assert re.search(r"\b[5-9] of 301 rows are shown", page.text("#gantt-left-out"))
    assert any(re.search(r"\d\d:\d\d", name) for name in names)
    assert "wall clock" in page.text("#book-facts")
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(service, open_page, scheme):
    fill_book(service)
    job = long_job(service)
    page = open_page(service, "#books/night", color_scheme=scheme)
    page.wait_for("#gantt svg")
    page.picture(f"book-{scheme}")
    assert page.least_contrast() >= (4.5,)
    page.open(f"#jobs/{job}")
    page.wait_for("#convergence path.line.value")
    assert page.least_contrast() >= (4.5,)
    page.open("#books/nothing")
    page.wait_for_text("#error", "There is no book nothing.")
    assert page.least_contrast() >= (4.5,)
    page.picture(f"error-{scheme}")
    send(service, "DELETE", f"/v1/jobs/{job}")


def test_a_narrow_screen_has_everything_below_each_other(service, open_page):
    fill_book(service)
    page = open_page(service, "#books/night", viewport={"width": 400, "height": 800})
    page.wait_for_text("#promises", "index")
    page.picture("narrow")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 400


def test_the_keyboard_reaches_everything_and_keeps_its_place(service, open_page):
    fill_book(service, "first")
    fill_book(service, "second")
    page = open_page(service)
    page.wait_for_text("#book-title", "first")
    focused = "document.activeElement.textContent.trim() || document.activeElement.id"
    seen = []
    while "Around now" not in seen and len(seen) < 20:
        page.tab.keyboard.press("Tab")
        seen.append(page.tab.evaluate(focused))
    assert seen[0] == "Skip to the chart"
    assert {"API", "Token", "first", "second", "Zoom in", "Around now"} <= set(seen)
    page.tab.focus("#books a >> text=second")
    page.tab.keyboard.press("Enter")
    page.wait_for_text("#book-title", "second")
    send(service, "POST", "/v1/books/second/advance", {"now": 5})
    page.wait_for_text("#books", "5")
    assert page.tab.evaluate(focused) == "second"


def test_texts_of_others_are_shown_as_texts(service, open_page):
    fill_book(service)
    name = "<img src=x onerror=alert(1)>"
    task = {"id": name, "arrival": 1, "load": 1, "deadline": 90}
    send(service, "POST", "/v1/books/night/submit", {"task": task})
    page = open_page(service, "#books/night")
    page.wait_for_text("#promises", name)
    assert page.tab.locator("main img").count() == 0
    assert page.complaints == []


def test_nothing_is_asked_of_other_servers_and_no_script_may_be_inline(service, open_page):
    fill_book(service)
    page = open_page(service)
    page.wait_for_text("#book-title", "night")
    assert all(url.startswith((service, "data:")) for url in page.requests)
    policy = page.tab.request.get(service).headers["content-security-policy"]
    allowed = dict(part.split(maxsplit=1) for part in policy.split("; "))
    assert allowed["default-src"] == "'none'" and allowed["script-src"] == "'self'"


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(tmp_path, open_page):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"reader read {TOKEN}\nplanner read,book,solve {TOKEN}-planner\n")
    tokens.chmod(0o600)
    with RunningService(tmp_path, "--tokens", str(tokens)) as running:
        page = open_page(running.address)
        page.wait_for("#token-dialog[open]")
        page.picture("token")
        page.tab.fill("#token", "a token that is wrong")
        page.tab.keyboard.press("Enter")
        page.wait_for_text("#error", "nknown token")
        page.wait_for("#token-dialog[open]")
        page.tab.fill("#token", TOKEN)
        page.tab.keyboard.press("Enter")
        page.wait_for("#begin:not([hidden])")
        assert "$TOKEN" in page.text("#begin-job")
        assert not page.tab.is_visible("#error")
        kept = "[localStorage.length, Object.values(sessionStorage), document.cookie]"
        assert page.tab.evaluate(kept) == [0, [TOKEN], ""]


def test_a_service_that_is_gone_is_reported_in_words(tmp_path, open_page):
    with RunningService(tmp_path) as running:
        fill_book(running.address)
        page = open_page(running.address)
        page.wait_for_text("#book-title", "night")
    page.wait_for_text("#error", "The service does not answer.")
    page.picture("gone")
    assert page.text("#connection") == "Not connected."
    assert "night" in page.text("#book-title")
