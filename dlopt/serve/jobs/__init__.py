"""Jobs: requests that take long, each answered in a process of its own.

- `requests`: what is asked; `job_request_reader`: how it is read, with every fault at once;
- `job_records`: the tables of jobs and of the instances that they are about;
- `job_queue`: which job is next; `event_history`: what happens to a job, for any number of readers;
- `worker_main`: the process of a job; `worker_handle`: what the server does with it;
- `active_job`: a job that is queued or running; `job_runner`: runs one after the other;
- `job_dispatcher`: the queue, the workers, and the end of each job;
- `job_service`: `JobService`, what the HTTP layer calls.
"""
