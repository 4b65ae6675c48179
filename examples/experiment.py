"""An experiment with several instances.

Each run is a record in a file. A batch that is stopped goes on where it was; the report is one
page.
"""

from concurrent.futures import ThreadPoolExecutor

import dlopt
from dlopt.batch import instance_files, plan_runs, read_item, read_records, run_batch, write_report

for seed in range(3):
    dlopt.write(dlopt.generate("iit", "random", nodes=4, seed=seed), f"random-{seed}.json")
runs = plan_runs(map(read_item, instance_files(["."])), ["opr", "edf-iit-2", "exact"])
with ThreadPoolExecutor(1) as executor:
    run_batch(runs, "records.jsonl", executor=executor, workers=1)
records = list(read_records("records.jsonl"))
for record in records:
    print(record.instance, record.key.method, record.status, record.value)
write_report(records, "report.html")
