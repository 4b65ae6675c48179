"""The files of deploy/: what they start is started as they say, and answers as they ask."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest

from dlopt.serve.settings import ServiceSettings
from tests.serve.running_service import ROOT, RunningService

CONTAINER = (ROOT / "deploy" / "Containerfile").read_text()
UNIT = (ROOT / "deploy" / "dlopt.service").read_text()
TOKEN = "planner read 0123456789abcdef0123\n"


def words_of(instruction):
    """Return the words of an instruction of the Containerfile in its JSON form."""
    found = re.search(rf"^{instruction} (\[.*\])$", CONTAINER, re.MULTILINE)
    return json.loads(found.group(1))


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(TOKEN)
    path.chmod(0o600)
    return path


def test_the_container_starts_a_service_that_its_health_check_finds(tmp_path, token_file):
    program, command, *options = words_of("ENTRYPOINT") + words_of("CMD")
    assert (program, command) == ("dlopt", "serve")
    places = {"/var/lib/dlopt": str(tmp_path), "/run/secrets/dlopt-tokens": str(token_file)}
    places["0.0.0.0"] = "127.0.0.1"  # nobody else needs to reach it
    for place, here in places.items():
        options = [option.replace(place, here) for option in options]
    python, *check = words_of("HEALTHCHECK .*\\\\\n +CMD")
    assert python == "python"
    with RunningService(tmp_path, *options) as running:
        port = running.address.rpartition(":")[2]
        check = [word.replace("8321", port) for word in check]
        assert subprocess.run([sys.executable, *check], check=False).returncode == 0
        assert running.stop() == 0
    dead = subprocess.run([sys.executable, *check], check=False, stderr=subprocess.DEVNULL)
    assert dead.returncode != 0


def test_the_image_has_all_that_the_package_is_made_of():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {folder for folder in project["package-dir"].values() if "/" not in folder}
    copied = re.findall(r"^COPY (\S+) \1$", CONTAINER, re.MULTILINE)
    assert set(copied) == {"dlopt"} | folders


def test_the_unit_allows_what_the_service_needs():
    settings = ServiceSettings(store="")
    limits = dict(re.findall(r"^(\w+)=(\d+)G?$", UNIT, re.MULTILINE))
    assert int(limits["LimitNOFILE"]) >= 4 * settings.max_connections
    # Books that are busy have a thread each, of which there are 256.
    assert int(limits["TasksMax"]) >= 512
    assert int(limits["MemoryMax"]) * 1_000 >= settings.concurrent_jobs * settings.job_memory_mb
    assert "OOMPolicy=continue" in UNIT  # one job that takes too much does not end the service


def test_the_image_has_what_it_copies_and_no_root_rights():
    for paths in re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINER, re.MULTILINE):
        for path in paths.split():
            assert (ROOT / path).exists(), path
    user = re.findall(r"^USER (\d+)$", CONTAINER, re.MULTILINE)
    assert user == ["10001"] and "--uid 10001" in CONTAINER


def test_the_unit_starts_a_service_that_ends_by_a_signal(tmp_path, token_file):
    program, command, *options = shlex.split(re.search("^ExecStart=(.*)$", UNIT, re.M).group(1))
    assert program.endswith("/dlopt") and command == "serve"
    example = re.search('^# DLOPT_SERVE_OPTIONS="(.*)", for', UNIT, re.M).group(1)
    given = [*(option for option in options if "$DLOPT" not in option), *shlex.split(example)]
    here = {"${STATE_DIRECTORY}": str(tmp_path), "/etc/dlopt/tokens": str(token_file)}
    here["192.0.2.1"] = "127.0.0.1"
    for place, path in here.items():
        given = [option.replace(place, path) for option in given]
    with RunningService(tmp_path, *given) as running:
        assert running.stop() == 0


def test_systemd_accepts_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    unit = tmp_path / "dlopt.service"
    unit.write_text(UNIT.replace("/opt/dlopt/bin/dlopt", "/bin/sh"))
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0 and "Unknown" not in verified.stderr, verified.stderr
