"""Task graphs on machines that differ: list scheduling beside proven optima."""
