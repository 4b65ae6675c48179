"""The books of a store as a server finds them when it starts."""

from __future__ import annotations

import logging

from dlopt.errors import described
from dlopt.serve.books.book_log import UnreadableBookError, book_names, load_book
from dlopt.serve.books.limits import BookLimits
from dlopt.serve.books.logged_book import LoggedBook
from dlopt.serve.errors import UnavailableError
from dlopt.serve.store import Store

_LOGGER = logging.getLogger(__name__)


def restored_books(
    store: Store, limits: BookLimits
) -> tuple[list[LoggedBook], dict[str, UnreadableBookError]]:
    """Return all books that can be restored, and by name why others cannot, which is logged, too.

    Raises
    ------
    UnavailableError
        If the store cannot be read.
    """
    books: list[LoggedBook] = []
    unreadable: dict[str, UnreadableBookError] = {}
    for name in book_names(store):
        try:
            books.append(LoggedBook.replayed(load_book(store, name), limits))
        except UnavailableError:
            raise
        except UnreadableBookError as error:
            _LOGGER.error("book %s is not served: %s", name, error)
            unreadable[name] = error
        except Exception as error:  # whatever is wrong with one book, the others are served
            _LOGGER.exception("book %s is not served", name)
            reason = f"book {name} cannot be restored: {described(error)}"
            unreadable[name] = UnreadableBookError(reason)
    return books, unreadable
