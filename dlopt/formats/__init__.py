"""Readers and writers of external file formats, to and from neutral records."""
