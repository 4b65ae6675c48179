"""What a process of pytest-xdist reports to its parent: how a test ended, and no more.

For each test it would send six messages: that it begins and ends, that its fixtures are made, that
it passes, that they are taken down, and that the next one can begin. To write, send and read them
took several times as long as all else that pytest does for a test, which is a minute for twenty
thousand. Of a test that passes, the parent needs two; what fails or is skipped, and what fixtures
print, is reported in full.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Send = Callable[..., None]


def report_less(config: pytest.Config) -> None:
    """Have this process, if pytest-xdist started it, leave out the messages that nothing reads.

    Names and phases of tests are read for `-v`, `--durations`, `--junit-xml` and `--record-slow`:
    with one of these options, everything is reported.
    """
    option = config.option
    xmlpath = getattr(option, "xmlpath", None)  # of a plugin that may be off
    read = (option.verbose > 0, option.durations, xmlpath, option.record_slow)
    if not hasattr(config, "workerinput") or any(read):
        return
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = fewer_messages(plugin.sendevent)


def fewer_messages(send: Send) -> Send:
    """Return a function that sends a message of a name, with values, if the parent needs it.

    Examples
    --------
    >>> send = fewer_messages(lambda name, **values: print(name, values["data"]["when"]))
    >>> for when, outcome in [("setup", "passed"), ("call", "passed"), ("teardown", "failed")]:
    ...     data = {"when": when, "outcome": outcome, "sections": [], "keywords": {"slow": 1}}
    ...     send("testreport", data=data)
    testreport call
    testreport teardown
    >>> send("logstart", nodeid="tests/test_api.py::test_a", location=("tests/test_api.py", 9, ""))
    """

    def send_if_needed(name: str, **values: Any) -> None:
        if name in ("logstart", "logfinish"):
            return
        if name == "testreport" and values["data"]["outcome"] == "passed":
            data = values["data"]
            if data["when"] != "call" and not data["sections"]:
                return
            data["keywords"] = {}  # marks, and names of modules and folders
        send(name, **values)

    return send_if_needed
