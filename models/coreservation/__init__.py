"""CPU shares reserved on several machines at once: Min 2001, and repaired."""
