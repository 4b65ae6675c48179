"""The command line: ``dlopt`` and ``python -m dlopt``."""

from __future__ import annotations

import os
import sys
from typing import Any


def main() -> None:
    """Run a command; whatever a user can cause ends in one message and an exit code."""
    import typer

    from dlopt.cli.commands import app
    from dlopt.cli.console import Exit, err, tell
    from dlopt.errors import DloptError

    try:
        code = app(standalone_mode=False)
    except DloptError as error:
        code = tell(error)
    except _usage_error() as error:
        error.show()
        code = Exit.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        err.print("interrupted")
        code = Exit.INTERRUPTED
    except MemoryError:
        err.print("error: out of memory")
        code = Exit.NO_ANSWER
    except BrokenPipeError:
        # The reader of a pipe has gone; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = Exit.DONE
    sys.exit(int(code or 0))


def _usage_error() -> Any:
    """Return the class of wrong usage, which is click's own or the one that typer carries."""
    import typer

    bases = typer.BadParameter.__mro__
    return next(base for base in reversed(bases) if hasattr(base, "show"))
