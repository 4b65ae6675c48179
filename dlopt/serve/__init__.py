"""The HTTP service: jobs that solve, and books that decide, for planners in any language.

The service adds nothing to what is decided. It adds HTTP, durability, identity and limits:

- `settings`: what can be set; `errors`: what a request can get wrong;
- `store`: the database; `books`: durable books; `jobs`: runs in processes of their own;
- `operations`: the table of all operations; the routes and the OpenAPI document are made from it.
"""
