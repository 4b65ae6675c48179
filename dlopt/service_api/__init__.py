"""What the service and its clients agree on: the operations, and what is sent and answered.

- `operations`: the table of all operations: method, path, scope, and the records of both bodies.
  The routes of the server, the OpenAPI document, the client and the tools of assistants follow it;
- `definitions`, `arguments` and `job_requests`: the bodies of requests, which the server checks;
- `book_records`, `job_records`, `health_and_faults`: all other bodies;
- `json_data`: how a record is written as the data of its JSON, and read from it;
- `input_schemas`: the JSON Schemas of what operations take.
"""
