"""Durable books: engines that decide, with identity, clock, holds and a log.

`verbs` is the table of what can be asked of a book and how it is read and written; `arguments` and
`definitions` are what requests contain. `book_state` is a book without threads: what a call does to
it, and its log. `book_host` applies the calls of one book in order; `group_commit` writes what all
books have done; `book_log` has the tables. `book_service` is the interface to the HTTP layer.
"""
