"""Jobs: questions that take long, each answered in a process of its own.

- `questions`: what is asked; `question_reader`: how it is read, with every fault at once;
- `job_records`: the tables of jobs and of the instances that they are about;
- `job_queue`: which job is next; `event_history`: what happens to a job, for any number of readers;
- `job_process`: the process of a job; `supervised_process`: what the server does with it;
- `live_job`: a job that is queued or running; `job_worker`: runs one after the other;
- `job_runner`: the queue, the workers, and the end of each job;
- `job_service`: `JobService`, what the HTTP layer calls.
"""
