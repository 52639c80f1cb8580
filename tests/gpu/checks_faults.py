"""Checks of what goes wrong while a process is captured: it exits, forks, dies; the collector dies."""

import os
import signal
import time

from checks import Row
from checks_exact import expect
from harness import find_field


def _captured(ctx, workload, seconds):
    capture = ctx.nanolane.profile(workload.pid, seconds)
    capture.wait_recording()
    time.sleep(0.3)
    return capture


def exit_while_recording(ctx):
    """The process exits while four threads launch: the session ends, with what was recorded."""
    row = Row("exit")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 16))
    storm.ask("launch 1000")
    capture = _captured(ctx, storm, 30)
    storm.ask("launch 5000")
    storm.ask("start")
    time.sleep(0.5)
    storm.send("exit")
    expect(row, "exit code", 0, storm.wait_end(15))
    capture.require(20)
    row.captures = 1
    got = ctx.nanolane.count(capture.session, "kernel")
    row.expected, row.got, row.lost = ">=5000", str(got), ctx.nanolane.lost(capture)
    if got + row.lost < 5000:
        row.faults.append(f"{got} kernels and {row.lost} lost, of at least 5000")
    row.notes.append(str(find_field(capture.document, "message") or "no message"))
    return row


def fork_while_recording(ctx):
    """Eight DataLoader workers are forked during a capture; then the process exits during one."""
    row = Row("fork")
    workload = ctx.wait_ready(ctx.start_python("dataloader.py"), timeout=80)
    capture, answer = ctx.capture(workload, "epoch", longest=40, timeout=50)
    row.captures = 1
    ctx.add_losses(capture, row)
    trace = ctx.trace(capture, row)
    row.expected = f"{answer['batches']} copies"
    row.got = str(trace.copies["h2d"][0])
    expect(row, "copies [count, bytes]", [answer["batches"], answer["bytes"]],
           list(trace.copies["h2d"]))
    capture = _captured(ctx, workload, 30)
    workload.send("leave")
    expect(row, "exit code", 0, workload.wait_end(20))
    capture.require(20)
    row.captures += 1
    kernels = ctx.nanolane.count(capture.session, "kernel")
    row.notes.append(f"exit of Python: {kernels} kernels, {ctx.nanolane.lost(capture)} lost")
    return row


def kill_while_recording(ctx):
    """SIGKILL of the process: the session ends and says that something may be missing."""
    row = Row("SIGKILL")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 16))
    capture = _captured(ctx, storm, 30)
    storm.ask("launch 5000")
    time.sleep(1.0)  # these are delivered
    storm.ask("start")
    time.sleep(0.3)
    os.kill(storm.pid, signal.SIGKILL)
    capture.require(20)
    row.captures = 1
    got, row.lost = ctx.nanolane.count(capture.session, "kernel"), ctx.nanolane.lost(capture)
    row.expected, row.got = ">=5000", str(got)
    if got < 5000:
        row.faults.append(f"{got} kernels, of at least 5000")
    message = str(find_field(capture.document, "message") or "")
    notes = find_field(capture.document, "notes") or []
    row.notes.append("; ".join(filter(None, [message, *map(str, notes)]))[:160])
    if not row.lost and not message and not notes:
        row.faults.append("nothing says that the process was killed")
    return row


def collector_killed(ctx):
    """kill -9 of `nanolane up` during a capture, and a new one on the same folder and socket."""
    row = Row("collector kill -9")
    storm = ctx.wait_ready(ctx.start_cuda("storm", 4, 1 << 16))
    capture = _captured(ctx, storm, 10)
    session = capture.session
    storm.ask("launch 20000")
    time.sleep(0.5)
    ctx.nanolane.kill()
    capture.process.wait(15)
    storm.ask("launch 20000")
    ctx.nanolane.start()
    storm.ask("launch 20000")
    row.captures = 1
    if not session:
        row.faults.append("the session's id is not known")
        return row
    ctx.nanolane.wait_ended(session, 30)
    got = ctx.nanolane.count(session, "kernel")
    row.lost = ctx.nanolane.lost(capture)
    row.expected, row.got = "60000", str(got)
    if got + row.lost < 60_000:
        row.faults.append(f"{got} kernels and {row.lost} lost, of 60000")
    if got > 60_000:
        row.faults.append(f"{got - 60_000} kernels are there twice")
    # The process can be captured again by the new collector.
    ctx.nanolane.wait_registered(storm.pid)
    capture, _ = ctx.capture(storm, "launch 1000")
    row.captures += 1
    expect(row, "kernels of the next capture", 1000,
           ctx.nanolane.count(capture.session, "kernel"))
    expect(row, "exit code", 0, storm.close())
    return row
