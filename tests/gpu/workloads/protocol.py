"""How a Python workload answers tests/gpu/harness.py: see control.h, of which this is the twin."""

import json
import os
import sys

# What libraries print must not mix with the answers.
_answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def answer(**fields):
    _answers.write(json.dumps(fields) + "\n")
    _answers.flush()


def serve(handlers):
    """Serves commands, each a name and whole numbers, until "quit" or the end of the input."""
    answer(ready=True, pid=os.getpid())
    for line in iter(sys.stdin.readline, ""):
        name, *arguments = line.split()
        if name == "quit":
            break
        if name not in handlers:
            answer(error=f"unknown command {name}")
            continue
        try:
            answer(**(handlers[name](*map(int, arguments)) or {}))
        except Exception as error:  # pylint: disable=broad-except
            answer(error=f"{type(error).__name__}: {error}"[:400])
            raise
