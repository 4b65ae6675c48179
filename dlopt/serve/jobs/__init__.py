"""Jobs: requests that take long, each answered in a worker process.

- `job_request_reader`: how a request is read, with every fault at once; `stored_requests`: what is
  asked, and the keys by which the same answer is found again;
- `job_records`: the tables of jobs and of the instances that they are about; `job_retention`: which
  of them are removed;
- `job_queue`: which job is next; `event_history`: what happens to a job, for any number of readers;
- `worker_main`: the worker process, seen from inside; `worker_handle`: how the server uses it;
- `job_runner`: `JobRunner`, which runs one job after the other in a worker process;
- `job_dispatcher`: `JobDispatcher`, which hands the jobs of the queue to runners and ends them;
- `unsettled_submissions`: jobs whose commit has failed, and may have happened;
- `job_service`: `JobService`, what the HTTP layer calls.
"""
