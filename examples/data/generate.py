"""Write the small files of this folder, in formats of others, from seeds.

``python examples/data/generate.py FOLDER`` writes them into another folder.
"""

import json
import random
import sys
from pathlib import Path


def job_log(jobs: int = 60, processors: int = 32) -> str:
    """Return a log in the Standard Workload Format: jobs by day, first come first served."""
    draw = random.Random(1)
    lines = [
        "; Version: 2.2",
        "; Computer: an invented cluster (generated log)",
        f"; MaxProcs: {processors}",
    ]
    free = [0] * processors
    now = started = 0
    for number in range(1, jobs + 1):
        now += round(draw.expovariate(1 / 400))
        width = draw.choice([1, 1, 2, 4, 4, 8, 8, 16, 32])
        run = round(draw.lognormvariate(7, 1))
        started = max(now, started, sorted(free)[width - 1])
        chosen = sorted(range(processors), key=free.__getitem__)[:width]
        for processor in chosen:
            free[processor] = started + run
        asked = -(-run // 900) * 900
        fields = [number, now, started - now, run, width, -1, -1, width, asked, -1, 1]
        fields += [number % 7 + 1, 1, -1, 1, -1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    return "\n".join(lines) + "\n"


def workflow(samples: int = 5) -> str:
    """Return a workflow in the format of WfCommons (WfFormat 1.5): five samples, then a report."""
    draw = random.Random(2)
    tasks, runs, files = [], [], {}

    def task(name: str, parents: list[str], reads: list[str], seconds: float, size: int) -> str:
        output = f"{name}.out"
        files[output] = size
        tasks.append(
            {
                "name": name,
                "id": name,
                "parents": parents,
                "children": [],
                "inputFiles": reads,
                "outputFiles": [output],
            }
        )
        runs.append({"id": name, "runtimeInSeconds": seconds})
        for parent in tasks:
            if parent["name"] in parents:
                parent["children"].append(name)
        return output

    split = task("split", [], [], 30.0, 40_000_000)
    counted = []
    for k in range(samples):
        trimmed = task(f"trim-{k}", ["split"], [split], round(draw.uniform(60, 120), 1), 60_000_000)
        task(f"align-{k}", [f"trim-{k}"], [trimmed], round(draw.uniform(150, 400), 1), 90_000_000)
        counted.append(
            task(
                f"count-{k}",
                [f"align-{k}"],
                [f"align-{k}.out"],
                round(draw.uniform(20, 60), 1),
                2_000_000,
            )
        )
    task("merge", [f"count-{k}" for k in range(samples)], counted, 45.0, 5_000_000)
    task("report", ["merge"], ["merge.out"], 15.0, 1_000_000)
    document = {
        "name": "samples-5",
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {
                "tasks": tasks,
                "files": [{"id": name, "sizeInBytes": size} for name, size in files.items()],
            },
            "execution": {"makespanInSeconds": 2000, "executedAt": "", "tasks": runs},
        },
    }
    return json.dumps(document, indent=1) + "\n"


def abstract_workflow(tiles: int = 4) -> str:
    """Return a workflow in the format of Pegasus (DAX): tiles of a picture, put together."""
    draw = random.Random(3)
    jobs, edges = [], []

    def job(name: str, reads: dict[str, int], writes: dict[str, int], parents: list[str]) -> None:
        seconds = round(draw.uniform(5, 60), 2)
        jobs.append(f'  <job id="{name}" namespace="tiles" name="{name}" runtime="{seconds}">')
        for link, uses in (("input", reads), ("output", writes)):
            for file, size in uses.items():
                jobs.append(f'    <uses file="{file}" link="{link}" size="{size}"/>')
        jobs.append("  </job>")
        if parents:
            edges.append(f'  <child ref="{name}">')
            edges.extend(f'    <parent ref="{parent}"/>' for parent in parents)
            edges.append("  </child>")

    for k in range(tiles):
        job(f"project{k}", {f"raw{k}": 4_000_000}, {f"flat{k}": 8_000_000}, [])
    for k in range(tiles - 1):
        reads = {f"flat{k}": 8_000_000, f"flat{k + 1}": 8_000_000}
        job(f"difference{k}", reads, {f"fit{k}": 1_000}, [f"project{k}", f"project{k + 1}"])
    reads = {f"fit{k}": 1_000 for k in range(tiles - 1)}
    job("model", reads, {"corrections": 500}, [f"difference{k}" for k in range(tiles - 1)])
    reads = {f"flat{k}": 8_000_000 for k in range(tiles)} | {"corrections": 500}
    job("add", reads, {"mosaic": 20_000_000}, ["model", *(f"project{k}" for k in range(tiles))])
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<adag xmlns="http://pegasus.isi.edu/schema/DAX"'
    return "\n".join([f'{head} version="2.1" name="tiles">', *jobs, *edges, "</adag>"]) + "\n"


def times_to_compute(tasks: int = 24, machines: int = 4) -> str:
    """Return a matrix of expected times to compute: a row for each task."""
    draw = random.Random(4)
    rows = [f"{tasks} {machines}"]
    for _ in range(tasks):
        baseline = draw.uniform(1, 20)
        rows.append(" ".join(f"{baseline * draw.uniform(1, 5):.1f}" for _ in range(machines)))
    return "\n".join(rows) + "\n"


def items_to_pack(problems: int = 2, items: int = 24, capacity: int = 100) -> str:
    """Return bin packing problems in the format of the OR-Library."""
    draw = random.Random(5)
    lines = [str(problems)]
    for k in range(problems):
        sizes = [draw.randint(20, 70) for _ in range(items)]
        lines += [f"items-{k}", f"{capacity} {items} {-(-sum(sizes) // capacity)}"]
        lines += map(str, sizes)
    return "\n".join(lines) + "\n"


FILES = {
    "jobs.swf": job_log,
    "workflow.json": workflow,
    "workflow.xml": abstract_workflow,
    "times.etc": times_to_compute,
    "items.txt": items_to_pack,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, text in FILES.items():
        (folder / name).write_text(text())
