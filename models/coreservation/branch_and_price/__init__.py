"""Branch and price: one column is a set of parts that one machine holds together."""
