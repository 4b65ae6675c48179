"""A program that runs another one, and ends it when the process that asked for it has ended.

    python -I -S supervisor.py PARENT FOLDER PROGRAM ARGUMENT...

It leads a session of its own. Once its parent is no longer the process PARENT, however that ended,
it kills the program and all of its group, and removes FOLDER (if that is not empty). Otherwise it
ends as the program does, with the same code or by the same signal. `dlopt.child_processes` starts
it; it imports nothing but the standard library, so that it starts fast.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

_PAUSE_S = 0.25
"""Seconds between two looks at the parent."""
_CANNOT_RUN = 127
"""The code of a program that cannot be started, as in a shell."""


def main(parent: int, folder: str, command: list[str]) -> None:
    """Run a command until it ends, or the parent does."""
    try:
        program = subprocess.Popen(command, close_fds=False)  # what was handed on, it is handed on
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(_CANNOT_RUN)
    # A reader of the program's output sees its end of file, and not that of this process.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PAUSE_S)
        _end(program, folder)

    threading.Thread(target=watch, daemon=True).start()
    code = program.wait()
    if os.getppid() != parent:
        _end(program, folder)
    if code >= 0:
        os._exit(code)
    _end_by(-code)


def _end(program: "subprocess.Popen[bytes]", folder: str) -> None:
    """Kill the group, this process included, and remove the folder."""
    program.kill()
    if folder:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)  # others of the group may have gone on writing
    os.killpg(0, signal.SIGKILL)


def _end_by(number: int) -> None:
    """End by a signal, as the program has, but dump no core of our own."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(number, signal.SIG_DFL)  # SIGKILL can be neither caught nor reset
    os.kill(os.getpid(), number)
    os._exit(128 + number)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
