"""Print the oldest release that the project file allows of each dependency, as constraints."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *extras["plot"], *extras["sim"], *extras["fast"]]:
    name, oldest = re.match(r"([\w.-]+)>=([\w.]+)", requirement).groups()
    print(f"{name}=={oldest}")
