"""Streams of divisible loads, exactly: what can be accepted by one who knows all arrivals.

`case` is an instance as the models see it. `fluid` and `windows` bound every plan by rational
proofs; `grid` (CP-SAT) finds orders of chunks; `sequence` turns an order into loads and a plan, or
shows that it cannot; `order` is the MILP over orders; `search` plays them against each other;
`methods` is what a caller names.
"""
