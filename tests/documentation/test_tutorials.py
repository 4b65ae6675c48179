"""Every command of the tutorials runs, in its order, and prints what its page shows."""

import pytest

from tests.documentation.shown_output import (
    ROOT,
    assert_shown,
    blocks_of,
    run_blocks,
    with_free_ports,
)

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_what_a_tutorial_shows_is_printed(page, tmp_path):
    blocks = list(blocks_of(page.read_text()))
    assert any(block.shown for block in blocks)
    printed = run_blocks(blocks, tmp_path, with_free_ports)
    for block, output in zip(blocks, printed, strict=True):
        assert_shown(block, output)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_no_block_of_a_tutorial_is_left_out(page):
    text = page.read_text()
    run = sum(block.shown != "" for block in blocks_of(text))
    shown = text.count("\n```text\n") + text.count("\n```json\n")
    assert run == shown
    assert "Traceback" not in text
    assert text.count("\n```python\n# ") == text.count("\n```python\n")
