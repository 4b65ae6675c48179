"""Tokens and scopes, rates, and requests that pages of other sites make."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.serve.app import create_app
from dlopt.serve.security import MAX_CLIENTS, RateLimiter, read_token_file
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.operations import OPERATIONS, Operation, Permission
from tests.serve.http.fakes import FakeJobs

TOKENS = {scope: f"0123456789abcdef-{scope}" for scope in Permission}


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    lines = [f"{scope}er {scope} {token}" for scope, token in TOKENS.items()]
    return written(tmp_path / "tokens", "\n# who may do what\n" + "\n".join(lines))


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    os.chmod(path, mode)
    return path


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_each_operation_needs_its_scope(
    serving: Callable[..., TestClient], token_file: Path, operation: Operation
) -> None:
    client = serving(token_file=token_file)
    path = operation.path.format(name="main", id="1")
    body = {"json": {}} if operation.request is not None else {}

    def status(headers: dict[str, str]) -> int:
        return client.request(operation.method, path, headers=headers, **body).status_code

    if operation.scope is None:
        assert status({}) in operation.statuses
        return
    answer = client.request(operation.method, path, **body)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    for scope, token in TOKENS.items():
        wanted = operation.statuses if scope is operation.scope else (403,)
        assert status(bearing(token)) in wanted


def test_a_token_may_have_several_scopes(
    serving: Callable[..., TestClient], tmp_path: Path, jobs: FakeJobs
) -> None:
    file = written(tmp_path / "tokens", f"planner read,solve {TOKENS[Permission.READ]}")
    client = serving(token_file=file)
    assert client.post("/v1/jobs", json={}, headers=bearing(TOKENS[Permission.READ])).is_success
    assert client.get("/v1/jobs", headers=bearing(TOKENS[Permission.READ])).is_success
    assert jobs.calls == [("submit", {}, "planner")]


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic 0123456789abcdef-read", "0123456789abcdef-read",
     "Bearer 0123456789abcdef-rea", "Bearer 0123456789abcdef-read2", "Bearer \u00e9"],
)  # fmt: skip
def test_tokens_that_are_none(
    serving: Callable[..., TestClient], token_file: Path, header: str
) -> None:
    client = serving(token_file=token_file)
    sent = {"Authorization": header.encode("latin-1")}
    answer = client.get("/v1/books", headers=sent)  # type: ignore[arg-type]
    assert answer.status_code == 401
    assert header[7:].strip() not in answer.json()["detail"] or not header[7:].strip()


def test_the_host_may_be_any_where_tokens_are_needed(
    serving: Callable[..., TestClient], token_file: Path
) -> None:
    client = serving(token_file=token_file, host="0.0.0.0")
    headers = bearing(TOKENS[Permission.READ]) | {"Host": "planner.example.org"}
    assert client.get("/v1/books", headers=headers).is_success


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_other_machines_need_tokens(tmp_path: Path, host: str) -> None:
    with pytest.raises(NotApplicableError, match=": --tokens FILE is required"):
        create_app(ServiceSettings(f"sqlite:///{tmp_path}/a.db", host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_the_loopback_needs_no_tokens(tmp_path: Path, host: str) -> None:
    assert create_app(ServiceSettings(f"sqlite:///{tmp_path}/a.db", host=host))


LINES = {
    "two fields": ("planner read", "must have a name, scopes"),
    "four fields": ("planner read token more", "must have a name, scopes"),
    "no such scope": ("planner read,write 0123456789abcdef", "must have scopes among read, solve"),
    "empty scope": ("planner read, 0123456789abcdef", "must have scopes among"),
    "short": ("planner read 0123456789abcde", "at least 16 ASCII"),
    "not ASCII": ("planner read 0123456789abcdef\u00e9", "at least 16 ASCII"),
    "name twice": ("a read 0123456789abcdef\na book fedcba9876543210", "repeats a name"),
    "token twice": ("a read 0123456789abcdef\nb book 0123456789abcdef", "repeats a token"),
    "empty": ("# nobody\n\n", "has no token"),
}


@pytest.mark.parametrize(("text", "rule"), LINES.values(), ids=LINES)
def test_token_files_that_are_wrong(tmp_path: Path, text: str, rule: str) -> None:
    with pytest.raises(InvalidInstanceError, match=rule) as caught:
        read_token_file(written(tmp_path / "tokens", text))
    assert "0123456789" not in str(caught.value) and "fedcba" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_token_files_that_others_can_read(tmp_path: Path, mode: int) -> None:
    with pytest.raises(NotApplicableError, match="other users can read"):
        read_token_file(written(tmp_path / "tokens", "a read 0123456789abcdef", mode))


@pytest.mark.parametrize("name", ["absent", "."])
def test_token_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotApplicableError, match="cannot be read"):
        read_token_file(tmp_path / name)


def test_token_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_bytes(b"\xff\xff")
    with pytest.raises(NotApplicableError, match="not UTF-8"):
        read_token_file(tmp_path / "tokens")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "localhost.evil", "", "["],
)
def test_names_that_lead_here_by_dns_rebinding(client: TestClient, host: str) -> None:
    for path in ("/v1/books", "/", "/healthz", "/openapi.json", "/metrics"):
        answer = client.get(path, headers={"Host": host})
        assert (answer.status_code, answer.json()["title"]) == (403, "Untrusted origin")


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:8321"])
def test_names_of_the_loopback(client: TestClient, host: str) -> None:
    assert client.get("/v1/books", headers={"Host": host}).is_success


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://127.0.0.1:8321", True),
        ("http://evil.example", False),
        ("http://127.0.0.1:9000", False),
        ("http://127.0.0.1:8321.evil.example", False),
        ("null", False),
        ("file://", False),
        ("", False),
    ],
)
def test_pages_of_other_sites(client: TestClient, origin: str, allowed: bool) -> None:
    answer = client.post("/v1/books/main/submit", json={}, headers={"Origin": origin})
    assert answer.status_code == (200 if allowed else 403)
    assert "access-control-allow-origin" not in answer.headers


def test_a_client_that_asks_too_often_is_told_when_to_come_again(
    serving: Callable[..., TestClient], token_file: Path
) -> None:
    client = serving(token_file=token_file, max_requests_per_s=3)
    reader = bearing(TOKENS[Permission.READ])
    statuses = [client.get("/v1/books", headers=reader).status_code for _ in range(5)]
    assert statuses[:3] == [200] * 3 and 429 in statuses
    answer = client.get("/v1/books", headers=reader)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    other = client.post("/v1/books/main/submit", json={}, headers=bearing(TOKENS[Permission.BOOK]))
    assert other.is_success
    guesses = [client.get("/v1/books", headers=bearing("x" * 20)).status_code for _ in range(5)]
    assert guesses[0] == 401 and guesses[-1] == 429
    assert client.get("/healthz").is_success


def test_buckets_fill_again_and_are_bounded_in_number() -> None:
    now = [0.0]
    buckets = RateLimiter(10.0, lambda: now[0])
    assert [buckets.wait_s("a") for _ in range(10)] == [0.0] * 10
    assert buckets.wait_s("a") == pytest.approx(0.1)
    now[0] = 0.1
    assert buckets.wait_s("a") == 0.0 and buckets.wait_s("a") > 0
    now[0] = 100.0
    assert [buckets.wait_s("a") for _ in range(11)][-1] > 0
    for client in range(MAX_CLIENTS):
        buckets.wait_s(str(client))
    assert buckets.wait_s("a") == 0.0  # it has been forgotten


def test_a_rate_below_one_allows_one() -> None:
    now = [0.0]
    buckets = RateLimiter(0.5, lambda: now[0])
    assert [buckets.wait_s("a"), buckets.wait_s("a")] == [0.0, 2.0]
