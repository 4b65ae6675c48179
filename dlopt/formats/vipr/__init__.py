"""VIPR certificates of integer programs: proofs of bounds as text, and their verification.

A file states a program, and derives from it, step by step, what it claims: constraints are added
up with rational multipliers, rounded where all of their variables are integral, and assumed for a
case that a later step closes. To verify it takes nothing but fractions. Format 1.0 of Cheung,
Gleixner and Steffy, "Verifying integer programming results", IPCO 2017, LNCS 10328, 148-160.
"""

from dlopt.formats.vipr.certificate import Certificate, Constraint
from dlopt.formats.vipr.reading import parse
from dlopt.formats.vipr.writing import to_text

__all__ = ["Certificate", "Constraint", "parse", "to_text"]
