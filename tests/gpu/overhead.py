#!/usr/bin/env python3
"""What Nanolane costs the process that it captures, beside torch.profiler and nsys.

  tests/gpu/overhead.py --bin DIR --out DIR [--only SECTION,SECTION] [--budget SECONDS]

The workload is an encoder that is bound by its launches. Slices of twelve batches are compared, each
of a mode with those right before and after it without the mode: the processor's clock drifts by more
than what is measured. Only the launching thread counts, pinned to a core, in its CPU time.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
from checks import WORKLOADS, Context
from harness import CheckFailed, Workload

BATCHES = 12
ROUNDS = 14  # of modes that take a while to turn on
PAIRS = 36   # of modes that are there already
NSYS = "/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys"


class Slices:
    """Slices of one mode and what they are compared with: per-unit CPU time in ns."""

    def __init__(self, mode, unit):
        self.mode = mode
        self.unit = unit
        self.pairs = []  # (without, with)
        self.problem = ""

    def add(self, before, value, after):
        self.pairs.append(((before + after) / 2, value))

    def summary(self):
        if not self.pairs:
            return {"mode": self.mode, "problem": self.problem or "nothing measured"}
        ratios = sorted(value / without for without, value in self.pairs)
        quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
        return {"mode": self.mode, "unit": self.unit, "n": len(ratios),
                "without_ns": statistics.median(without for without, _ in self.pairs),
                "added_ns": statistics.median(value - without for without, value in self.pairs),
                "ratio": statistics.median(ratios), "quartiles": [quartiles[0], quartiles[2]],
                "problem": self.problem}


def slice_ns(workload, core, command="slice", count=1):
    """CPU time of a batch's launches: the median of some slices."""
    return statistics.median(workload.ask(f"{command} {BATCHES} {core}", 30)["cpu_ns"] / BATCHES
                             for _ in range(count))


def alternate(slices, without, with_mode, pairs):
    """Pairs of the two, by turns."""
    before = without()
    for _ in range(pairs):
        value = with_mode()
        after = without()
        slices.add(before, value, after)
        before = after


def captured(ctx, workload, measure):
    """What measure() says while the workload is captured."""
    capture = ctx.nanolane.profile(workload.pid, 20)
    capture.wait_recording()
    time.sleep(0.15)
    value = measure()
    capture.require(30, early=True)
    lost = ctx.nanolane.lost(capture)
    if lost:
        ctx.nanolane.note(f"{lost} lost in a slice")
    return value


def encoder_modes(ctx, core):
    """Dormant and capturing."""
    plain = ctx.start_python("encoder.py", injected=False)
    armed = ctx.start_python("encoder.py")
    ctx.wait_ready(plain, injected=False)
    ctx.wait_ready(armed)
    for workload in (plain, armed):
        slice_ns(workload, core, count=8)
    same = Slices("nothing, against itself", "batch")
    alternate(same, lambda: slice_ns(plain, core), lambda: slice_ns(plain, core), PAIRS)
    dormant = Slices("dormant", "batch")
    alternate(dormant, lambda: slice_ns(plain, core), lambda: slice_ns(armed, core), PAIRS)
    yield same
    yield dormant
    capturing = Slices("capturing every kind", "batch")
    after = Slices("dormant, between captures", "batch")
    before = slice_ns(armed, core, count=3)
    for _ in range(ROUNDS):
        value = captured(ctx, armed, lambda: slice_ns(armed, core, count=3))
        off = slice_ns(armed, core, count=3)
        capturing.add(before, value, off)
        near = [slice_ns(plain, core), slice_ns(armed, core), slice_ns(plain, core)]
        after.add(*near)
        before = off
    yield capturing
    yield after


def torch_profiler(ctx, core):
    """torch.profiler, in a process of its own."""
    plain = ctx.start_python("encoder.py", injected=False)
    profiled = ctx.start_python("encoder.py", injected=False)
    for workload in (plain, profiled):
        ctx.wait_ready(workload, injected=False)
        slice_ns(workload, core, count=8)
    slice_ns(profiled, core, "profiled_slice")
    recording = Slices("torch.profiler, CUDA only", "batch")
    alternate(recording, lambda: slice_ns(plain, core, count=2),
              lambda: slice_ns(profiled, core, "profiled_slice"), ROUNDS * 2)
    yield recording


def nsys(ctx, core):
    """nsys, in a process of its own."""
    slices = Slices("nsys -t cuda,nvtx -s none", "batch")
    if not os.access(NSYS, os.X_OK):
        slices.problem = "no nsys here"
        yield slices
        return
    plain = ctx.start_python("encoder.py", injected=False)
    ctx.wait_ready(plain, injected=False)
    # Pipes with names: nsys gives its program another standard input and output.
    pipes = [ctx.scratch / "nsys.commands", ctx.scratch / "nsys.answers"]
    for pipe in pipes:
        os.mkfifo(pipe)
    inner = (f"exec {shlex.quote(sys.executable)} {shlex.quote(str(WORKLOADS / 'encoder.py'))} "
             f"<{shlex.quote(str(pipes[0]))} >{shlex.quote(str(pipes[1]))}")
    command = [NSYS, "profile", "-t", "cuda,nvtx", "-s", "none", "-o",
               str(ctx.scratch / "nsys-report"), "bash", "-c", inner]
    workload = Workload("nsys", command, ctx.nanolane.plain, ctx.out / "workloads.log",
                        stdin=None, stdout=open(os.devnull, "wb"))
    ctx.workloads.append(workload)
    # Opened for both directions, so that opening waits for nobody.
    commands, answers = (open(pipe, "r+b", buffering=0) for pipe in pipes)
    workload.attach(commands, answers)
    workload.wait_ready(60)
    slice_ns(plain, core, count=8)
    slice_ns(workload, core, count=8)
    alternate(slices, lambda: slice_ns(plain, core), lambda: slice_ns(workload, core), PAIRS)
    yield slices
    workload.send("quit")
    workload.wait_end(15)


def null_kernels(ctx, core):
    """What a launch costs that does nothing."""
    plain = ctx.start_cuda("storm", 1, 1024, injected=False)
    armed = ctx.start_cuda("storm", 1, 1024)
    ctx.wait_ready(plain, injected=False)
    ctx.wait_ready(armed)

    def bench(workload):
        return workload.ask(f"bench 20 {core}", 30)["cpu_ns"]

    for workload in (plain, armed):
        bench(workload)
    dormant = Slices("dormant", "launch")
    alternate(dormant, lambda: bench(plain), lambda: bench(armed), ROUNDS)
    yield dormant
    capturing = Slices("capturing every kind", "launch")
    after = Slices("after a capture", "launch")
    for _ in range(ROUNDS):
        before = bench(plain)
        value = captured(ctx, armed, lambda: bench(armed))
        capturing.add(before, value, bench(plain))
        before = bench(plain)
        value = bench(armed)
        after.add(before, value, bench(plain))
    yield capturing
    yield after


SECTIONS = {"encoder": encoder_modes, "null": null_kernels, "torch": torch_profiler, "nsys": nsys}


def print_table(summaries):
    print(f"{'mode':<28} {'of a':<7} {'without':>10} {'added':>10} {'ratio':>7} "
          f"{'quartiles':>15} {'n':>4}")
    for summary in summaries:
        if "ratio" not in summary:
            print(f"{summary['mode']:<28} {summary['problem'][:200]}")
            continue
        batch = summary["unit"] == "batch"
        times = [f"{summary[key] / 1e6:.3f} ms" if batch else f"{summary[key]:.0f} ns"
                 for key in ("without_ns", "added_ns")]
        low, high = summary["quartiles"]
        print(f"{summary['mode']:<28} {summary['unit']:<7} {times[0]:>10} {times[1]:>10} "
              f"{summary['ratio']:>7.3f} {low:>7.3f}..{high:<6.3f} {summary['n']:>4}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder with nanolane and its library")
    parser.add_argument("--out", required=True, help="folder for logs and results")
    parser.add_argument("--only", default="", help="of " + ",".join(SECTIONS))
    parser.add_argument("--budget", type=int, default=300, help="seconds for everything")
    arguments = parser.parse_args()
    names = [name for name in arguments.only.split(",") if name] or list(SECTIONS)
    begin = time.monotonic()
    ctx = Context(arguments.bin, arguments.out)
    core = max(os.sched_getaffinity(0))
    summaries = []
    failed = False
    try:
        if "null" in names:
            ctx.compile(["storm"])
        for name in names:
            if time.monotonic() - begin + 30 > arguments.budget:
                summaries.append({"mode": name, "problem": "not run: the budget is spent"})
                continue
            try:
                ctx.nanolane.ensure_up()
                for slices in SECTIONS[name](ctx, core):
                    summaries.append(slices.summary())
            except Exception as failure:  # pylint: disable=broad-except
                failed = True
                if not isinstance(failure, CheckFailed):
                    ctx.nanolane.note(traceback.format_exc())
                summaries.append({"mode": name, "problem": f"{type(failure).__name__}: {failure}"})
            ctx.end_workloads()
            (ctx.out / "overhead.json").write_text(json.dumps(summaries, indent=1))
            print(f"[{time.monotonic() - begin:4.0f}s] {name}", flush=True)
    finally:
        ctx.close()
    print_table(summaries)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
