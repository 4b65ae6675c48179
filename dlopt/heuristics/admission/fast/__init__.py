"""FAST-EDF-IIT: an admission test without planning, and a dispatcher.

The schedulability test of Mamat 2011, chapter 6, in the four readings that its pseudo code allows,
and repaired, in the order of deadlines or of MWF; and HYBRID, which plans while few tasks wait.
"""
