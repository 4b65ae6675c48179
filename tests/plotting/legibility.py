"""Whether what is written in a figure can be read."""

from __future__ import annotations

from matplotlib.figure import Figure


def assert_legible(figure: Figure) -> None:
    """Require that no two texts overlap, and that all stand on the page."""
    figure.draw_without_rendering()
    found = [*figure.texts, *figure.legends[0].get_texts()]
    for axes in figure.axes:
        found += axes.texts
        if axes.axison:
            first, last = axes.get_xlim()
            ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
            found += [label for at, label in ticks if first <= at <= last]
            found += [*axes.get_yticklabels(), axes.xaxis.label]
    shown = [
        (text.get_text(), text.get_window_extent())
        for text in found
        if text.get_text().strip() and text.get_visible()
    ]
    page = figure.bbox
    for index, (name, box) in enumerate(shown):
        assert box.x0 >= page.x0 - 1, name
        assert box.x1 <= page.x1 + 1, name
        for other, another in shown[:index]:
            assert not box.overlaps(another), (name, other)
