"""Task graphs on machines that differ, exactly.

`case` is an instance as the models see it, in integers; `heads` and `energy` are what is proven by
ways through the graphs and by work in intervals, and `bounds` puts them together. `program` is
what both CP-SAT programs share: `pooled`, for machines that are alike where nothing is sent, and
`placed`, for all else. `timing` makes plans of their answers, `search` improves a plan and a bound
until they meet. `compact` is an integer program for tiny cases. `methods` is what a caller names.
"""
