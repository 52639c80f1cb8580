#!/usr/bin/env python3
"""Checks Nanolane's capture on a real GPU: runs workloads whose truth is known and compares.

  tests/gpu/run_checks.py --bin DIR --out DIR [--only NAME,NAME] [--budget SECONDS]

DIR of --bin holds nanolane and libnanolane_inject.so. The exit code is 1 when a check fails.
docs/gpu-check.md says what is checked.
"""

import argparse
import json
import signal
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import checks_captured as captured
import checks_exact as exact
import checks_faults as faults
import checks_frameworks as frameworks
from checks import CUDA_PROGRAMS, Context, Row
from harness import CheckFailed

# Name → check, the CUDA workload that it needs, and the seconds that it may take.
CHECKS = {
    "phases": (exact.storm_phases, "storm", 45),
    "windows": (exact.storm_windows, "storm", 45),
    "graph": (exact.graph, "graph", 30),
    "copies": (exact.copies, "copies", 30),
    "two": (exact.two_gpus, "peer", 30),
    "encoder": (frameworks.encoder, "", 60),
    "gpt": (frameworks.gpt, "", 60),
    "compile": (frameworks.compile_triton, "", 90),
    "jax": (frameworks.jax, "", 60),
    "graphs": (frameworks.graphs, "", 60),
    "profiler": (frameworks.profiler_conflict, "", 60),
    "exit": (faults.exit_while_recording, "storm", 40),
    "fork": (faults.fork_while_recording, "", 60),
    "sigkill": (faults.kill_while_recording, "storm", 40),
    "latency": (exact.pulse_latency, "pulse", 45),
    "toggles": (captured.storm_toggles, "storm", 90),
    "restless": (captured.storm_restless, "storm", 70),
    "busy": (captured.busy_gpu, "busy", 60),
    "wait": (captured.amid_a_wait, "busy", 90),
    "10m": (exact.storm_10m, "storm", 120),
    "collector": (faults.collector_killed, "storm", 60),
}
COLUMNS = ("workload", "captures", "expected", "got", "lost", "early", "ratio", "verdict", "s")


def run_check(ctx, name):
    """The row of one check, whatever happens in it."""
    check, _, limit = CHECKS[name]
    begin = time.monotonic()

    def too_long(_number, _frame):
        raise CheckFailed(f"not done within {limit} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(limit)
    row = Row(name)
    try:
        ctx.nanolane.ensure_up()
        row = check(ctx)
    except CheckFailed as failure:
        row.faults.append(str(failure))
    except Exception as failure:  # pylint: disable=broad-except
        ctx.nanolane.note(traceback.format_exc())
        row.faults.append(f"{type(failure).__name__}: {failure}"[:300])
    finally:
        signal.alarm(0)
    ctx.end_workloads()
    if ctx.nanolane.up and ctx.nanolane.up.poll() is not None:
        row.faults.append(f"nanolane up has ended with {ctx.nanolane.up.returncode}")
    row.seconds = time.monotonic() - begin
    return row


def table(rows):
    """The rows as text, each followed by what is wrong and what is to be known."""
    cells = [COLUMNS]
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.4f}"
        cells.append((row.workload, str(row.captures), row.expected[:34], row.got[:34],
                      str(row.lost), str(row.early), ratio, "FAIL" if row.faults else "ok",
                      f"{row.seconds:.0f}"))
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    lines = []
    for number, line in enumerate(cells):
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if number > 0:
            row = rows[number - 1]
            lines += [f"    ! {fault[:240]}" for fault in row.faults]
            lines += [f"    {note[:200]}" for note in row.notes]
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder with nanolane and its library")
    parser.add_argument("--out", required=True, help="folder for logs and results")
    parser.add_argument("--only", default="", help="names, with commas: " + ",".join(CHECKS))
    parser.add_argument("--budget", type=int, default=600, help="seconds for everything")
    arguments = parser.parse_args()
    arguments.only = [name for name in arguments.only.split(",") if name] or list(CHECKS)
    unknown = [name for name in arguments.only if name not in CHECKS]
    if unknown:
        parser.error(f"no check {unknown[0]}; there are {', '.join(CHECKS)}")
    return arguments


def main():
    arguments = parse_arguments()
    begin = time.monotonic()
    ctx = Context(arguments.bin, arguments.out)
    rows = []
    try:
        needed = {CHECKS[name][1] for name in arguments.only} & set(CUDA_PROGRAMS)
        ctx.compile(sorted(needed))
        print(f"[{time.monotonic() - begin:4.0f}s] compiled, failed: {ctx.uncompiled or 'none'}",
              flush=True)
        for name in arguments.only:
            if time.monotonic() - begin + 15 > arguments.budget:
                rows.append(Row(name, faults=["not run: the budget is spent"]))
                continue
            rows.append(run_check(ctx, name))
            (ctx.out / "results.json").write_text(
                json.dumps([vars(row) for row in rows], indent=1, default=str))
            print(f"[{time.monotonic() - begin:4.0f}s] {name}: "
                  f"{'; '.join(rows[-1].faults)[:200] or 'ok'}", flush=True)
    finally:
        ctx.close()
    text = table(rows)
    (ctx.out / "table.txt").write_text(text + "\n")
    print(text)
    failed = [row.workload for row in rows if row.faults]
    print(f"{len(rows) - len(failed)} of {len(rows)} checks passed"
          + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
