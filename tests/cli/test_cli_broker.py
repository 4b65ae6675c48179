"""Co-reservation on the command line, over two real services."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlopt.client import Client
from dlopt.problems.coreservation import Machine
from tests.cli.conftest import Command
from tests.serve.running_service import RunningService

WANTED = {
    "id": "experiment",
    "start": 10,
    "end": 20,
    "latest_start": 40,
    "parts": [
        {"alternatives": [{"domain": name, "request": {"priority": 1, "parts": [{"cpu": 60}]}}]}
        for name in ("north", "south")
    ],
}


@pytest.fixture(scope="module")
def domains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    folders = [tmp_path_factory.mktemp(name) for name in ("north", "south")]
    with RunningService(folders[0]) as north, RunningService(folders[1]) as south:
        for service in (north, south):
            with Client(service.address) as client:
                client.create("shares", "coreservation", machines=[Machine("m", 100)])
        yield (
            f"--domain=north={north.address}/v1/books/shares",
            f"--domain=south={south.address}/v1/books/shares",
        )


def test_reserve_and_take_back(dlopt: Command, tmp_path: Path, domains: tuple[str, ...]) -> None:
    (tmp_path / "wanted.json").write_text(json.dumps(WANTED))
    done = dlopt("broker", "wanted.json", *domains)
    assert "experiment: reserved from 10 to 20" in done.out
    assert re.search(r"north: experiment/[0-9a-f]{16}/0$", done.out, re.MULTILINE)
    assert dlopt("broker", "wanted.json", *domains).out == done.out
    (tmp_path / "next.json").write_text(json.dumps({**WANTED, "id": "next"}))
    (decision,) = dlopt("broker", "next.json", *domains, "--json").json["decisions"]
    assert decision["accepted"] and decision["start"] == 20
    assert "it was cancelled" in dlopt("broker", *domains, "--cancel", "experiment").out
    (tmp_path / "wide.json").write_text(
        json.dumps({**WANTED, "id": "wide", "start": 25, "end": 26, "latest_start": 27})
    )
    refused = dlopt("broker", "wide.json", *domains, code=3)
    assert "not reserved: north" in refused.out
    assert dlopt("broker", *domains, "--json").content == {"decisions": [], "unsettled": []}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--domain", "north"], "NAME=VALUE"),
        (["--domain", "north=http://127.0.0.1:1/books/a"], "URL of a book"),
        (["--domain", "north=ftp://host/v1/books/a"], "no URL of a service"),
        (["wrong.json"], "parts"),
        (["missing.json"], "missing.json"),
        (["--cancel", "nobody"], "no decision on a request nobody"),
        (["--token", "north=missing.txt", "--domain", "north=http://h/v1/books/a"], "missing.txt"),
    ],
)
def test_wrong_arguments(
    dlopt: Command, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "wrong.json").write_text(json.dumps({**WANTED, "parts": []}))
    assert message in dlopt("broker", *arguments, code=2).err


def test_a_domain_that_does_not_answer(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "wanted.json").write_text(json.dumps(WANTED))
    nowhere = [f"--domain={name}=http://127.0.0.1:1/v1/books/a" for name in ("north", "south")]
    assert "no answer" in dlopt("broker", "wanted.json", *nowhere, code=3).out


def test_the_server_of_tools_needs_a_service(dlopt: Command) -> None:
    assert "no URL of a service" in dlopt("mcp", "--url", "nowhere", code=2).err
    assert "token.txt" in dlopt("mcp", "--token", "token.txt", code=2).err
