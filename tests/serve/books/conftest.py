"""Stores of both kinds, and clocks that tests set."""

import pytest

from tests.serve.postgresql import new_postgresql_database  # noqa: F401


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The URL of an empty store, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/books.db"
    return request.getfixturevalue("new_postgresql_database")()


@pytest.fixture
def file_url(tmp_path):
    """The URL of an empty store in a file, where the kind of the store does not matter."""
    return f"sqlite:///{tmp_path}/books.db"
