"""How results look as text, as HTML and as data frames."""
