"""Independent tasks on machines that differ: mapping heuristics beside proven optima."""
