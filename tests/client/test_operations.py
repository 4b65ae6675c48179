from dlopt.client.operations import OPERATIONS
from dlopt.serve.jobs.job_request_reader import FIELDS


def test_the_client_has_every_field_of_every_kind_of_job():
    known = {field.name for field in OPERATIONS["run"].fields}
    assert known == {name for fields in FIELDS.values() for name in fields}
    assert known == {field.name for field in OPERATIONS["validate"].fields}
