"""What the exact methods of several problems share."""
