from dataclasses import fields

from dlopt.client.operations import OPERATIONS
from dlopt.serve.jobs.job_request_reader import KINDS


def test_the_client_has_every_field_of_every_kind_of_job():
    known = {field.name for field in OPERATIONS["run"].fields}
    assert known == {item.name for kind in KINDS.values() for item in fields(kind)}
    assert known == {field.name for field in OPERATIONS["validate"].fields}
