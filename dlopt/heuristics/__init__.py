"""How the papers solve each problem, and how it is repaired where a paper is wrong; no solver."""
