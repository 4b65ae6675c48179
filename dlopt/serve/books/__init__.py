"""Durable books: engines that decide, with identity, clock, holds and a log.

`verbs` is the table of what can be asked of a book and how it is applied; `limits` says how much
requests and books may contain. `logged_book` is a book without threads: what a call does to it, and
its log. `book_executor` applies the calls of one book in order; `question_pool` answers questions
about copies of books meanwhile; `commit_thread` writes what all books have done; `book_log` has the
tables. `book_service` is the interface to the HTTP layer.
"""
