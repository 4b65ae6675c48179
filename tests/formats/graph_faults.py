"""What readers of task graphs say is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError


def told(function: Callable[..., Any], *arguments: Any, **options: Any) -> list[str]:
    """Return the lines of the error that a call must raise."""
    with pytest.raises(InvalidInstanceError) as caught:
        function(*arguments, **options)
    return str(caught.value).splitlines()
