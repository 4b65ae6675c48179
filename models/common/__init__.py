"""Parts of the exact methods that do not belong to one formulation."""
