"""VIPR certificates of integer programs: proofs of bounds as text, and their verification.

A file states a program, and derives its claim step by step: constraints are linearly combined with
rational multipliers, rounded where all of their variables are integral (Chvatal-Gomory), and
assumed for a case that a later step resolves. Verification needs rational arithmetic only. Format
1.0 of Cheung, Gleixner and Steffy, "Verifying integer programming results", IPCO 2017, LNCS 10328,
148-160.
"""

from dlopt.formats.vipr.certificate import Certificate, Constraint
from dlopt.formats.vipr.reading import parse, parse_lines
from dlopt.formats.vipr.writing import lines_of, statement_text, to_text

__all__ = [
    "Certificate",
    "Constraint",
    "lines_of",
    "parse",
    "parse_lines",
    "statement_text",
    "to_text",
]
