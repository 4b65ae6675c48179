"""Jobs whose commit fails: what is answered is what the store says, or that nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlopt.serve.errors import UnavailableError, UnknownOutcomeError
from tests.serve.jobs.services import ended, run, service_on, submitted, three_nodes
from tests.serve.lost_commits import failing_network


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_job_that_is_submitted_in_a_lost_commit(tmp_path: Path, is_committed: bool) -> None:
    """A job that is in the store is run, and one that is not is refused as such."""

    async def test() -> None:
        async with service_on(tmp_path) as service:
            with failing_network() as network:
                network.loses_before, network.loses_after = not is_committed, is_committed
                if not is_committed:
                    with pytest.raises(UnavailableError, match="nothing was done") as refused:
                        await service.submit(three_nodes("opr"))
                    assert refused.value.status == 503
                    assert service.list().body == {"jobs": []}
                job = await submitted(service, three_nodes("opr"))
                assert not (network.loses_before or network.loses_after)
            status = service.list().body["jobs"]
            assert [one["id"] for one in status] == [job]
            assert (await ended(service, job))["state"] == "done"

    run(test)


def test_a_job_of_which_nobody_knows_whether_it_is_stored(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            with failing_network() as network:
                network.loses_after = network.stays_down = True
                with pytest.raises(UnknownOutcomeError) as unknown:
                    await service.submit(three_nodes("opr"))
                assert unknown.value.status == 504
                network.is_down = False
        async with service_on(tmp_path) as service:  # which queues what is in the store
            (job,) = service.list().body["jobs"]
            assert (await ended(service, job["id"]))["state"] == "done"

    run(test)
