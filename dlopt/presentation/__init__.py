"""How results, comparisons and searches look as text, as HTML, and as data frames.

Each module for a kind of record offers `text_of`, `html_of` and, for those with tables,
`tables_of`; the records name it in `PRESENTED_BY`.
"""
