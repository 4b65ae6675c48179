"""Rules of the source tree itself."""
