"""The page in a browser, and what tests ask of it."""

from __future__ import annotations

import os
from typing import Any

import httpx

CONTRAST = """
() => {
  const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parts = (text, share = 1) => {
    const found = text === "none" ? [0, 0, 0, 0] : text.match(/[\\d.]+/g).map(Number);
    const [r, g, b, alpha = 1] = found;
    return [r, g, b, alpha * share];
  };
  const over = ([r, g, b, alpha], below) =>
    [r, g, b].map((above, at) => alpha * above + (1 - alpha) * below[at]);
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const style = getComputedStyle(element);
    const face = element.matches("text.name") && element.previousSibling;
    if (!face) return over(parts(style.backgroundColor), behind(element.parentElement));
    const fill = getComputedStyle(face);
    return over(parts(fill.fill, Number(fill.fillOpacity)), behind(element.parentElement));
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3);
    const text = own.map((node) => node.data.trim()).join("");
    if (!text || !element.getClientRects().length || element.closest("title, noscript")) continue;
    const style = getComputedStyle(element), drawn = element.namespaceURI.endsWith("svg");
    const ink = over(parts(drawn ? style.fill : style.color), behind(element));
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), text]);
  }
  return found;
}
"""
"""The contrast of each text that is seen with what is behind it, by the formula of WCAG 2."""


class ServicePage:
    """The page of a service in a tab of a browser.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
    address : str
        Of the service.
    **options : Any
        Of the browser context: colour scheme, size.
    """

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.tab = browser.new_page(**options)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.address = address

    def open(self, place: str = "") -> None:
        """Open the page at a book or a job."""
        self.tab.goto(f"{self.address}/{place}")
        self.wait_for_text("#connection", "onnected.")

    def text(self, selector: str) -> str:
        """Return the text of an element as it is seen."""
        return str(self.tab.inner_text(selector))

    def wait_for(self, selector: str) -> None:
        """Wait until there is an element."""
        self.tab.wait_for_selector(selector, state="attached")

    def wait_for_text(self, selector: str, text: str) -> None:
        """Wait until an element has a text."""
        self.tab.locator(selector, has_text=text).first.wait_for(state="attached")

    def picture(self, name: str) -> None:
        """Keep a picture of the page in the folder that `DLOPT_PAGE_PICTURES` names, if it does."""
        folder = os.environ.get("DLOPT_PAGE_PICTURES")
        if folder:
            self.tab.screenshot(path=os.path.join(folder, f"{name}.png"), full_page=True)

    def least_contrast(self) -> tuple[float, str]:
        """Return the least contrast of a text that is seen."""
        ratio, text = min(self.tab.evaluate(CONTRAST))
        return ratio, text


def send(address: str, method: str, path: str, body: object = None) -> Any:
    """Send a request to the service, and return the answer."""
    answer = httpx.request(method, address + path, json=body, timeout=60)
    assert answer.is_success, answer.text
    return answer.json()
