"""Checks of what being captured does to a process: pauses, memory, crashes, what is left of it."""

import threading
import time

from checks import Row
from checks_exact import expect
from harness import CheckFailed

TOGGLES = 50
TOGGLE_SECONDS = 0.3
RESTLESS_SECONDS = 40
LONGEST_GAP_NS = 20_000_000
LEAST_RATE = 0.8
BUSY_TOGGLES = 12


def storm_toggles(ctx):
    """Fifty short captures of a busy process, or as many as a minute allows: what they leave."""
    row = Row("storm toggles")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 2, 1 << 22))
    storm.ask("start")
    time.sleep(1.5)
    now = time.monotonic_ns()
    before = storm.ask(f"rate {now - 1_000_000_000} {now}")["per_second"]
    idle_gap = storm.ask(f"gap {now - 1_000_000_000} {now}")["max_gap_ns"]
    watch = ctx.watch(storm)
    gaps, settled_mb, counted, deadline = [], 0, 0, time.monotonic() + 60
    while row.captures < TOGGLES and time.monotonic() < deadline:
        begin = time.monotonic_ns()
        capture = ctx.nanolane.profile(storm.pid, TOGGLE_SECONDS)
        capture.require(20)
        row.captures += 1
        counted += ctx.kernels_told(capture) or 0
        row.lost += ctx.nanolane.lost(capture)
        gaps.append(storm.ask(f"gap {begin} {time.monotonic_ns()}")["max_gap_ns"])
        if row.captures == 5:
            settled_mb = watch.most[storm.pid] // 1024
    time.sleep(1.2)
    now = time.monotonic_ns()
    after = storm.ask(f"rate {now - 1_000_000_000} {now}")["per_second"]
    memory = watch.end()
    storm.ask("stop")
    row.expected, row.got = f"{TOGGLES} toggles", f"{row.captures}, {counted} kernels"
    longest = max(gaps[1:], default=0)
    row.details.update(gaps_ns=gaps, rate_before=before, rate_after=after)
    row.notes += [f"rate after/before {after / max(1, before):.3f}",
                  f"longest pause {gaps[0] / 1e6:.1f} ms first, {longest / 1e6:.1f} ms later, "
                  f"{idle_gap / 1e6:.1f} ms uncaptured"]
    for what, pid in (("workload", storm.pid), ("nanolane up", ctx.nanolane.up.pid)):
        row.notes.append(f"{what} RSS %d/%d/%d MB" % memory[pid])
    if row.captures < TOGGLES // 2:
        row.faults.append(f"only {row.captures} toggles in a minute")
    if row.lost:
        row.faults.append(f"{row.lost} lost")
    if longest >= LONGEST_GAP_NS:
        row.faults.append(f"a pause of {longest / 1e6:.1f} ms")
    # The processor's clock drifts by more than a capture may leave, which overhead.py measures.
    if after < LEAST_RATE * before:
        row.faults.append(f"{after:.0f} launches/s after, {before:.0f} before")
    if settled_mb and memory[storm.pid][1] - settled_mb > 64:
        row.faults.append(f"the workload grew by {memory[storm.pid][1] - settled_mb} MB")
    expect(row, "exit code", 0, storm.close())
    return row


def storm_restless(ctx):
    """Processes that launch without a pause, captured again and again at once: none of them dies."""
    row = Row("restless")
    storms = [ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 16)) for _ in range(3)]
    for storm in storms:
        storm.ask("start")
    deadline = time.monotonic() + RESTLESS_SECONDS
    captures = {storm.pid: 0 for storm in storms}

    def toggle(storm, pause):
        while time.monotonic() < deadline and storm.alive():
            ctx.nanolane.command("profile", str(storm.pid), "--duration", "60ms", check=False)
            captures[storm.pid] += 1
            time.sleep(pause)

    # With and without time for what is done after a capture.
    threads = [threading.Thread(target=toggle, args=(storm, pause))
               for storm, pause in zip(storms, (0, 0.2, 0.5))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row.captures = sum(captures.values())
    row.expected, row.got = "3 alive", f"{sum(storm.alive() for storm in storms)} alive"
    for storm in storms:
        if not storm.alive():
            row.faults.append(f"a process died in capture {captures[storm.pid]}: {storm.tail()}")
        else:
            storm.ask("stop")
            expect(row, "exit code", 0, storm.close())
    return row


def busy_gpu(ctx):
    """Captures of a process whose GPU is never idle: for how long it is then."""
    row = Row("busy GPU")
    busy = ctx.wait_ready(ctx.start_cuda("busy"))
    for depth, kernel_us in ((64, 500), (8, 5000)):
        busy.ask(f"start {depth} {kernel_us}")
        time.sleep(1)
        busy.ask("mark")
        time.sleep(2)
        alone = busy.ask("idle")
        idle, launch = [], []
        for _ in range(BUSY_TOGGLES):
            busy.ask("mark")
            capture = ctx.nanolane.profile(busy.pid, TOGGLE_SECONDS)
            capture.require(20)
            time.sleep(0.2)
            row.captures += 1
            ctx.add_losses(capture, row)
            told = busy.ask("idle")
            idle.append(told["longest_idle_ns"])
            launch.append(told["longest_launch_ns"])
            if (ctx.kernels_told(capture) or 0) < 0.9 * TOGGLE_SECONDS * 1e6 / kernel_us:
                row.faults.append(f"{ctx.kernels_told(capture)} kernels of {kernel_us} us")
        busy.ask("stop", 30)
        row.notes.append(
            f"{depth} x {kernel_us} us: GPU idle for at most {idle[0] / 1e6:.1f} ms first, "
            f"{max(idle[1:]) / 1e6:.1f} ms later, {alone['longest_idle_ns'] / 1e6:.1f} ms uncaptured; "
            f"a launch took {max(launch) / 1e6:.0f} ms")
        row.details[f"{depth}x{kernel_us}"] = {"idle_ns": idle, "launch_ns": launch}
        if max(idle[1:]) >= LONGEST_GAP_NS:
            row.faults.append(f"the GPU was idle for {max(idle[1:]) / 1e6:.1f} ms")
    row.expected = row.got = "0 lost"
    expect(row, "exit code", 0, busy.close())
    return row


def amid_a_wait(ctx):
    """A capture that ends while a thread waits for a kernel of many seconds, and those after it."""
    row = Row("amid a wait")
    busy = ctx.wait_ready(ctx.start_cuda("busy"))
    counts = []

    def launch_seconds():
        begin = time.monotonic()
        busy.ask("launch 2000", 30)
        return time.monotonic() - begin

    def capture_launches():
        capture, truth = ctx.capture(busy, "launch 2000")
        row.captures += 1
        ctx.add_losses(capture, row)
        counts.append(ctx.kernels_told(capture))
        expect(row, "kernels", truth["kernels"], counts[-1])

    capture_launches()
    first = ctx.nanolane.profile(busy.pid, 20)
    first.wait_recording()
    busy.ask("hold 14000")
    slowest = launch_seconds()
    begin = time.monotonic()
    first.require(30, early=True)
    row.captures += 1
    counts.append(ctx.kernels_told(first))
    row.notes.append(f"ended {time.monotonic() - begin:.1f} s after it was asked to, with "
                     f"{counts[-1]} kernels and {ctx.nanolane.lost(first)} lost")
    expect(row, "kernels amid the wait", 2000, counts[-1])
    # CUPTI stays until the wait is over; detached before, it would hold up launches until then.
    try:
        ctx.nanolane.profile(busy.pid, 1).wait_recording()
        row.faults.append("a capture began amid the wait")
    except CheckFailed as refused:
        row.notes.append(f"amid the wait: {str(refused)[-150:]}")
    slowest = max(slowest, launch_seconds())
    expect(row, "the wait", 1, busy.ask("held")["running"])
    while busy.ask("held")["running"]:
        time.sleep(0.2)
    capture_launches()
    capture_launches()
    row.expected, row.got = "2000 ×4", " ".join(map(str, counts))
    row.notes.append(f"2000 launches and a wait for them took {slowest:.2f} s at most amid the wait")
    if slowest > 1:
        row.faults.append(f"launches were held up for {slowest:.1f} s")
    expect(row, "exit code", 0, busy.close())
    return row
