"""Instance files to read, and instances with everything that a file can say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dlopt import io
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import BestKnown
from tests import strategies

ROOT = Path(__file__).parent.parent
SHIPPED = sorted((ROOT / "instances" / "iit").glob("*.json"))
VALID = {
    "problem": "iit",
    "version": 1,
    "name": "three",
    "cluster": {"nodes": 3, "tau": [1, 2, 3], "chi": "3/2", "theta_cm": 0.5},
    "ready_times": [0, 1, 4],
    "load": 3,
    "absolute_deadline": 20,
    "best_known": [
        {"objective": "completion", "plan_class": "any", "value": "39/8", "bound": [4, "9/2"]}
    ],
}
TEXT = json.dumps(VALID)
INSTANCE = io.instance_from_data(VALID)


@st.composite
def instances(draw: Any) -> Instance:
    """Return an instance with everything that a file can say; exact, or with floats."""
    instance = draw(strategies.iit(identical=draw(st.booleans()), deadline=draw(st.booleans())))
    if draw(st.booleans()):
        instance = replace(
            instance,
            load=draw(st.floats(1e-100, 1e100)),
            ready_times=tuple(float(ready) for ready in instance.ready_times),
        )
    values = st.none() | st.integers() | st.fractions() | st.lists(st.fractions(), max_size=2)
    best = st.builds(
        BestKnown, st.text(), st.sampled_from(["single", "per-stage", "k", "any"]), values, values
    )
    return replace(
        instance,
        name=draw(st.text()),
        origin=draw(st.text()),
        units=draw(st.text(max_size=3)),
        best_known=tuple(draw(st.lists(best, max_size=2))),
    )


def everything(instance: Instance) -> tuple[object, ...]:
    """Return an instance and its header, which equality leaves out."""
    return instance, instance.name, instance.origin, instance.units, instance.best_known


def edited(old: str, new: str) -> str:
    """Return the text of the valid file with one piece of it replaced."""
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


def written(folder: Path, text: str | bytes) -> Path:
    """Return a file in the folder that holds the text."""
    path = folder / "instance.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
