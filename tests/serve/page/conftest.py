"""A headless Chromium, where one is installed."""

import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs an installed Chromium")
    with playwright.sync_playwright() as running:
        # The sandbox of Chromium needs rights that containers, in which tests run, do not have.
        yield running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
