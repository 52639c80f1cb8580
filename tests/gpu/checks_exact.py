"""Checks whose truth is known to the event: phases, windows, graphs, copies."""

import json
import re
import subprocess
import threading
import time

from checks import Row
from harness import CheckFailed, end_group



def expect(row, what, wanted, have):
    if wanted != have:
        row.faults.append(f"{what}: {have}, not {wanted}")


def storm_phases(ctx):
    """Idle, N launches, idle: exactly N; also an empty and a one-kernel session before."""
    row = Row("storm phases")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 16))
    wanted, have = [0, 1, 20_000, 20_000], []
    for count in wanted:
        capture, _ = ctx.capture(storm, f"launch {count}")
        row.captures += 1
        ctx.add_losses(capture, row)
        session = ctx.nanolane.session(capture.session) or {}
        have.append(ctx.nanolane.count(capture.session, "kernel") if session.get("events") else 0)
        told = ctx.kernels_told(capture)
        if told is not None:
            expect(row, "profile's own count", count, told)
        if count > 1:
            ctx.trace(capture, row)
    row.expected, row.got = "+".join(map(str, wanted)), "+".join(map(str, have))
    expect(row, "kernels", wanted, have)
    expect(row, "exit code", 0, storm.close())
    return row


def storm_windows(ctx):
    """Captures that begin and end while four threads launch: every launch within is there."""
    row = Row("storm windows")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 22))
    storm.ask("start")
    time.sleep(0.5)
    wanted, have = [], []
    for _ in range(3):
        capture = ctx.nanolane.profile(storm.pid, 0.25)
        capture.wait_recording()
        capture.require()
        row.captures += 1
        ctx.add_losses(capture, row)
        on, off = ctx.nanolane.window(capture)
        window = storm.ask(f"window {on} {off}")
        # What was launched just before is there too, where it ran within the window.
        count = ctx.trace(capture, row, all_launched=False).launched_within(on, off)
        wanted.append(f"{window['min']}..{window['max']}")
        have.append(str(count))
        if not window["complete"]:
            row.faults.append("the launch log does not reach back to the capture's start")
        elif not window["min"] <= count <= window["max"]:
            row.faults.append(f"{count} kernels in a window of {wanted[-1]} launches")
    storm.ask("stop")
    row.expected, row.got = " ".join(wanted), " ".join(have)
    expect(row, "exit code", 0, storm.close())
    return row


def storm_10m(ctx):
    """Ten million launches in one capture, as many as the time allows, and memory meanwhile."""
    row = Row("storm 10 M")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 16))
    rate = 400_000 / max(1e-3, storm.ask("launch 400000")["seconds"])
    # Captured launches are slower; a run that cannot end in time says nothing.
    count = int(min(10_000_000, rate * 30))
    watch = ctx.watch(storm)
    capture = ctx.nanolane.profile(storm.pid, 80)
    capture.wait_recording()
    answer = storm.ask(f"launch {count}", 78)
    time.sleep(0.2)
    capture.require(60, early=True)
    memory = watch.end()
    row.captures = 1
    ctx.add_losses(capture, row)
    got = ctx.nanolane.count(capture.session, "kernel")
    row.expected, row.got = str(count), str(got)
    if got + row.lost != count:
        row.faults.append(f"{got} kernels and {row.lost} lost of {count}")
    row.notes.append(f"{count / answer['seconds'] / 1e3:.0f} k/s captured, {rate / 1e3:.0f} k/s not")
    for what, pid in (("workload", storm.pid), ("nanolane up", ctx.nanolane.up.pid)):
        before, most, after = memory[pid]
        row.notes.append(f"{what} RSS {before}/{most}/{after} MB before/most/after")
        row.details[what + " rss_mb"] = memory[pid]
    if memory[storm.pid][1] - memory[storm.pid][0] > 512:
        row.faults.append("the workload grew by more than 512 MB")
    expect(row, "exit code", 0, storm.close())
    return row


def graph(ctx):
    """A graph made before any capture, replayed in three sessions of one process."""
    row = Row("graph replay")
    workload = ctx.wait_ready(ctx.start_cuda("graph"))
    have = []
    for _ in range(3):
        capture, truth = ctx.capture(workload, "replay 100")
        row.captures += 1
        ctx.add_losses(capture, row)
        trace = ctx.trace(capture, row)
        have.append(f"{trace.kernel_count()}+{sum(c for c, _ in trace.copies.values())}")
        expect(row, "kernels", truth["kernels"], trace.kernel_count())
        expect(row, "copies [count, bytes]", [truth["copies"], truth["bytes"]],
               list(trace.copies["h2d"]))
        counts = sorted(count for count, _ in trace.kernels.values())
        expect(row, "kernels by name", [truth["copies"]] * 7, counts)
    row.expected, row.got = "700+100 ×3", " ".join(have)
    expect(row, "exit code", 0, workload.close())
    return row


def sync_counts(stats):
    """{kind: count} of synchronizations by the names of their ops."""
    kinds = (("wait_event", r"wait.?event"), ("event", r"event"), ("stream", r"stream"),
             ("device_or_context", r"device|context|ctx"))
    counts = {}
    for op in stats.get("ops", []):
        if op["kind"] == "sync":
            kind = next((k for k, pattern in kinds if re.search(pattern, op["name"], re.I)),
                        "other")
            counts[kind] = counts.get(kind, 0) + op["count"]
    return counts


def copies(ctx):
    """Copies, memsets, allocations, synchronizations and ranges, each a known number of times."""
    row = Row("copies")
    workload = ctx.wait_ready(ctx.start_cuda("copies"))
    workload.ask("run")  # what CUDA sets up at first use is not part of it
    capture, truth = ctx.capture(workload, "run")
    row.captures = 1
    ctx.add_losses(capture, row)
    trace = ctx.trace(capture, row)
    stats = ctx.nanolane.stats(capture.session)
    for kind in ("h2d", "d2h", "d2d"):
        expect(row, f"{kind} [count, bytes]", truth[kind], list(trace.copies[kind]))
    if list(trace.copies["h2h"]) != truth["h2h"]:
        # The driver may do these on the host without a record.
        row.notes.append(f"host to host {list(trace.copies['h2h'])} of {truth['h2h']}")
    expect(row, "memset [count, bytes]", truth["memset"], trace.memsets)
    sizes = [size for size, _ in trace.memory]
    for size in truth["allocations"]:
        expect(row, f"[allocated, freed] of {size} bytes", [1, 1],
               [sizes.count(size), sizes.count(-size)])
    _check_syncs(row, truth["sync"], sync_counts(stats))
    expect(row, "ranges", truth["nvtx"], dict(trace.ranges))
    expect(row, "ranges in all", sum(truth["nvtx"].values()),
           sum(op["count"] for op in stats.get("ops", []) if op["kind"] == "nvtx"))
    expect(row, "touch kernels", truth["touch"],
           sum(c for name, (c, _) in trace.kernels.items() if name.startswith("touch")))
    streams = {}
    for name, counts in trace.streams.items():
        if "per_thread_kernel" in name:
            streams = counts
    expect(row, "per-thread kernels by stream",
           [truth["per_thread_launches"]] * truth["per_thread_threads"], sorted(streams.values()))
    row.expected = f"{sum(truth[k][0] for k in ('h2d', 'd2h', 'd2d'))} copies"
    row.got = str(sum(trace.copies[k][0] for k in ("h2d", "d2h", "d2d")))
    row.details.update(truth=truth, got=trace.to_json(), ranges=dict(trace.ranges))
    expect(row, "exit code", 0, workload.close())
    return row


def two_gpus(ctx):
    """Two GPUs of one process, with a thread each, and copies between them."""
    row = Row("two GPUs")
    workload = ctx.wait_ready(ctx.start_cuda("peer"))
    if workload.ask("run 10")["gpus"] < 2:
        row.notes.append("not run: there is one GPU")
        return row
    for _ in range(3):
        capture, truth = ctx.capture(workload, "run 1000")
        row.captures += 1
        ctx.add_losses(capture, row)
        trace = ctx.trace(capture, row)
        for gpu in (0, 1):
            name = next((n for n in trace.kernels if f"gpu_kernel<{gpu}>" in n), "")
            expect(row, f"kernels of GPU {gpu}", truth["kernels"],
                   trace.kernels[name][0] if name else 0)
        expect(row, "copies [count, bytes]", [truth["copies"], truth["bytes"]],
               list(trace.copies["p2p"]))
    row.expected = row.got = "1000+1000 kernels, 2000 copies ×3"
    expect(row, "exit code", 0, workload.close())
    return row


def _check_syncs(row, truth, have):
    wanted = {"stream": truth["stream"], "event": truth["event"],
              "wait_event": truth["wait_event"],
              "device_or_context": truth["device"] + truth["context"]}
    if "other" in have:  # names that do not say the kind
        expect(row, "synchronizations", sum(wanted.values()), sum(have.values()))
        row.notes.append(f"synchronizations by name: {have}")
        return
    expect(row, "synchronizations", wanted, have)


def pulse_latency(ctx):
    """From a kernel's end to its arrival at a client that follows the session."""
    row = Row("latency")
    pulses, pause_ms = 120, 50
    workload = ctx.wait_ready(ctx.start_cuda("pulse"))
    capture = ctx.nanolane.profile(workload.pid, 30)
    capture.wait_recording()
    if not capture.session:
        raise CheckFailed("nanolane ps does not say which session is being recorded")
    steps = []
    follower = subprocess.Popen(
        [ctx.nanolane.program, "follow", capture.session, "--server", ctx.nanolane.address,
         "--format", "json"], env=ctx.nanolane.env, stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True, start_new_session=True)

    def read():
        for line in follower.stdout:
            steps.append((time.time_ns(), json.loads(line)))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    time.sleep(0.5)
    ends = workload.ask(f"pulse {pulses} {pause_ms}", 40)["ends"]
    time.sleep(1.5)
    live = list(steps)  # what came while the session ran
    capture.require(early=True)
    end_group(follower)
    row.captures = 1
    ctx.add_losses(capture, row)
    got = ctx.nanolane.count(capture.session, "kernel")
    row.expected, row.got = str(pulses), str(got)
    expect(row, "kernels", pulses, got)
    total = max((step["events"] for _, step in live), default=0)
    if total < pulses:
        row.faults.append(f"{total} events arrived while the session ran, of {pulses} kernels")
        return row
    # Every pulse has the same events: its kernel is there once its share of them is.
    delays = []
    for index, end in enumerate(ends):
        share = (index + 1) * total / pulses
        delays.append(next(at for at, step in live if step["events"] >= share - 1e-6) - end)
    delays.sort()
    median, p95 = delays[len(delays) // 2] / 1e6, delays[int(len(delays) * 0.95)] / 1e6
    row.notes.append(f"median {median:.0f} ms, p95 {p95:.0f} ms, {total / pulses:.2f} events a pulse")
    row.details.update(median_ms=median, p95_ms=p95)
    if p95 > 1000:
        row.faults.append(f"p95 of {p95:.0f} ms is over a second")
    expect(row, "exit code", 0, workload.close())
    return row
