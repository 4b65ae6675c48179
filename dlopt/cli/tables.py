"""Tables that fit the terminal: where it is narrow, the columns that matter least are left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from dlopt.cli.console import out
from dlopt.errors import printable

Section = str
"""A heading of the rows that follow."""
TABLE_WIDTH = 80
"""Characters: in a terminal with fewer, tables that do not fit become lists."""
_ENDLESS = 10_000
"""Characters: wider than any table."""


@dataclass(slots=True)
class TerminalTable:
    """A table before it is laid out: rows by the headings of their cells.

    Parameters
    ----------
    columns : sequence of str
        The headings. Where lines are short they are broken: at line breaks, or else at spaces.
    title : str, default ""
    left : collection of str
        Columns of names and texts; the others, of numbers, are flush right.
    droppable : sequence of str
        Columns that a narrow terminal does without, the first of them first.
    wrapped : collection of str
        Columns of sentences, whose cells may have several lines.

    Examples
    --------
    >>> times = TerminalTable(("method", "time"), left={"method"})
    >>> times.add({"method": "opr", "time": "2 s"})
    >>> times.layout().row_count
    1
    """

    columns: Sequence[str]
    title: str = ""
    left: Collection[str] = ()
    droppable: Sequence[str] = ()
    wrapped: Collection[str] = ()
    rows: list[Mapping[str, str | Text] | Section] = field(default_factory=list)

    def add(self, row: Mapping[str, str | Text] | Section) -> None:
        """Add a row by the headings, or a heading of the rows that follow."""
        self.rows.append(row)

    def layout(self, left_out: Collection[str] = (), *, is_narrow: bool = False) -> Table:
        """Return the table without some columns; no name or number in it is broken.

        Parameters
        ----------
        left_out : collection of str
            Headings of the columns that it does without.
        is_narrow : bool, default False
            Whether headings are broken into lines.
        """
        names = [name for name in self.columns if name not in left_out]
        table = Table(box=box.SIMPLE_HEAD, title=self.title or None, padding=(0, 1, 0, 0))
        for name in names:
            heading = name.replace("\n", " ")
            if is_narrow:
                heading = name if "\n" in name else name.replace(" ", "\n")
            is_text = name in self.wrapped
            is_left = is_text or name in self.left
            justify: JustifyMethod = "left" if is_left else "right"
            table.add_column(heading, justify=justify, no_wrap=not is_text)
        for row in self.rows:
            if isinstance(row, str):
                table.add_section()
                table.add_row(Text(printable(row), "bold"))
            else:
                table.add_row(*(row.get(name, "") for name in names))
        return table

    def print(self) -> None:
        """Print the table, and below it which columns the terminal has no room for.

        With fewer than `TABLE_WIDTH` characters, a table that still has too little room is a list.
        """
        left_out: list[str] = []
        table = self.layout()
        if not _fits(table):
            table = self.layout(is_narrow=True)
        while len(left_out) < len(self.droppable) and not _fits(table):
            left_out.append(self.droppable[len(left_out)])
            table = self.layout(left_out, is_narrow=True)
        if out.width < TABLE_WIDTH and not _fits(table):
            self._print_list()
            return
        print_table(table)
        if left_out:
            names = ", ".join(name for name in self.columns if name in left_out)
            out.print(f"no room for: {names} (--json has all)", markup=False, soft_wrap=True)

    def _print_list(self) -> None:
        """Print each row as lines, a line for each cell; the first cell is their heading."""
        blocks = [Text(self.title, "italic")] * bool(self.title)
        for row in self.rows:
            if isinstance(row, str):
                blocks.append(Text(printable(row), "bold"))
                continue
            cells = [(name.replace("\n", " "), row[name]) for name in self.columns if row.get(name)]
            lines = [
                Text.assemble(" " * min(at, 1), f"{name}: ", cell)
                for at, (name, cell) in enumerate(cells)
            ]
            blocks.append(Text("\n").join(lines))
        for block in blocks:
            out.print(block)
        out.print()


def print_table(table: RenderableType) -> None:
    """Print a table; in a file or a pipe, its lines end where their last cell does."""
    if out.is_terminal:
        out.print(table, crop=False)
        return
    with out.capture() as captured:
        out.print(table, crop=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    out.print("\n".join(lines), markup=False, emoji=False, soft_wrap=True)


def _fits(table: Table) -> bool:
    options = out.options.update(max_width=_ENDLESS)
    return out.measure(table, options=options).maximum <= out.width
