"""FAST-EDF-IIT: tasks are admitted without planning them, and sent as nodes become free.

The admission test of Mamat 2011, chapter 6, in the four readings that its pseudo code allows, and
repaired, in the order of deadlines or of MWF; and HYBRID, which plans while few tasks wait.
"""
