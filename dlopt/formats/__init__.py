"""Readers and writers of others' file formats, to and from neutral records."""
