"""Checks of frameworks: what Nanolane captures against what torch.profiler sees of an equal run."""

from checks import Row
from checks_exact import expect
from harness import CheckFailed
from traces import Trace, differences

DURATION_TOLERANCE = 0.02


def _equal_runs(ctx, row, script, iterations):
    """Captures K iterations, and has torch.profiler record K of a process without Nanolane."""
    plain = ctx.start_python(script, injected=False)
    armed = ctx.start_python(script)
    ctx.wait_ready(plain, injected=False, timeout=80)
    ctx.wait_ready(armed, timeout=80)
    told = plain.ask(f"profile {iterations}")
    expected = Trace(told["trace"])
    # Both right after each other: the clocks of a GPU follow its load.
    armed.ask("run 20")
    capture, answer = ctx.capture(armed, f"run {iterations}")
    row.captures += 1
    ctx.add_losses(capture, row)
    got = ctx.trace(capture, row)
    row.expected, row.got = str(expected.kernel_count()), str(got.kernel_count())
    if expected.kernel_count() == 0:
        row.faults.append("torch.profiler saw no kernels")
    found = differences(expected, got)
    row.faults += found[:4] + ([f"… and {len(found) - 4} more"] if len(found) > 4 else [])
    row.ratio = got.kernel_ns() / max(1, expected.kernel_ns())
    if abs(row.ratio - 1) > DURATION_TOLERANCE:
        row.faults.append(f"durations add up to {row.ratio:.3f} of the equal run's")
    by_name = {name: round(total / max(1, expected.kernels[name][1]), 3)
               for name, (_, total) in got.kernels.items() if name in expected.kernels}
    row.details.update(expected=expected.to_json(), got=got.to_json(), ratio_by_name=by_name)
    if by_name:
        row.notes.append(f"ratios by name {min(by_name.values()):.2f}..{max(by_name.values()):.2f}")
    _check_memory(row, got, answer["allocated"])
    for workload in (plain, armed):
        expect(row, "exit code", 0, workload.close())
    return row


def _check_memory(row, trace, allocated):
    if not trace.levels:
        # A replayed graph allocates nothing, so that there may be no change to see.
        row.notes.append("no framework memory events")
        if row.workload != "torch graphs":
            row.faults.append("no framework memory events")
        return
    expect(row, "last framework memory level", allocated, trace.levels[-1][1])


def encoder(ctx):
    """Inference, bound by launches."""
    return _equal_runs(ctx, Row("torch encoder"), "encoder.py", 150)


def gpt(ctx):
    """Training with mixed precision and a copy stream."""
    return _equal_runs(ctx, Row("torch gpt"), "gpt.py", 60)


def compile_triton(ctx):
    """Kernels that are launched through the driver alone."""
    return _equal_runs(ctx, Row("compile+triton"), "compile_triton.py", 200)


def graphs(ctx):
    """Replay of a graph that PyTorch captured before."""
    return _equal_runs(ctx, Row("torch graphs"), "graphs.py", 200)


def jax(ctx):
    """Twice the iterations have twice the kernels, of each name."""
    row = Row("jax")
    workload = ctx.wait_ready(ctx.start_python("jax_work.py"), timeout=80)
    counts = []
    for iterations in (100, 200):
        capture, answer = ctx.capture(workload, f"run {iterations}")
        if answer["backend"] not in ("gpu", "cuda"):
            raise CheckFailed(f"JAX runs on {answer['backend']}")
        row.captures += 1
        ctx.add_losses(capture, row)
        trace = ctx.trace(capture, row)
        counts.append({name: count for name, (count, _) in trace.kernels.items()})
    once, twice = counts
    expect(row, "kernels of twice the iterations", {n: 2 * c for n, c in once.items()}, twice)
    for name, count in once.items():
        if count % 100:
            row.faults.append(f"{count} of {name[:60]} in 100 iterations")
    row.expected, row.got = str(2 * sum(once.values())), str(sum(twice.values()))
    if not once:
        row.faults.append("no kernels")
    expect(row, "exit code", 0, workload.close())
    return row


def profiler_conflict(ctx):
    """Nanolane is asked while torch.profiler records, after it, and torch.profiler after that."""
    row = Row("beside profiler")
    workload = ctx.wait_ready(ctx.start_python("profiler_conflict.py"), timeout=80)
    # A capture that is on when torch.profiler begins is ended in order, and both have what is theirs.
    first = ctx.nanolane.profile(workload.pid, 30).wait_recording()
    workload.ask("run 50")
    workload.send("record 1000")
    workload.answer(60)
    seen = workload.answer(30)
    document = first.require(30)
    row.captures += 1
    ctx.add_losses(first, row)
    kernels = ctx.nanolane.count(first.session, "kernel")
    row.notes.append(f"on when torch.profiler began: {kernels} kernels; {document.get('message', '')}")
    if kernels < 100:
        row.faults.append(f"{kernels} kernels of 50 iterations before torch.profiler began")
    if seen["events"] < 2 * seen["iterations"]:
        row.faults.append(f"torch.profiler saw {seen['events']} kernels of {seen['iterations']} "
                          "iterations when it began during a capture")
    workload.send("record 4000")
    workload.answer(60)
    capture = ctx.nanolane.profile(workload.pid, 1)
    capture.finish(15)
    row.captures += 1
    refusal = capture.errors.strip().splitlines()[-1][-160:] if capture.errors.strip() else ""
    if capture.process.returncode == 0:
        row.faults.append("profile was not refused while torch.profiler records")
    else:
        row.notes.append(f"refused with: {refusal}")
    named = any(word in refusal.lower() for word in ("profil", "kineto", "torch", "tool", "cupti"))
    if capture.process.returncode != 0 and not named:
        row.faults.append("the refusal does not name who records")
    seen = workload.answer(30)
    row.expected, row.got = f">={2 * seen['iterations']} kernels", str(seen["events"])
    if seen["events"] < 2 * seen["iterations"]:
        row.faults.append(f"torch.profiler saw {seen['events']} kernels of "
                          f"{seen['iterations']} iterations")
    try:
        capture, _ = ctx.capture(workload, "run 50")
        row.captures += 1
        ctx.add_losses(capture, row)
        kernels = ctx.trace(capture, row, all_launched=False).kernel_count()
        row.notes.append(f"after it: {kernels} kernels of 50 iterations")
        # At least two an iteration; a library may use more for a product.
        if kernels < 100 or kernels % 50:
            row.faults.append(f"{kernels} kernels of 50 iterations after torch.profiler")
    except CheckFailed as failure:
        if not workload.alive():
            raise
        row.notes.append(f"after it: {failure}")
    workload.send("record 500")
    workload.answer(30)
    again = workload.answer(30)
    row.notes.append(f"torch.profiler again: {again['events']} events")
    if again["events"] < 2 * again["iterations"]:
        row.faults.append("torch.profiler saw too little after the capture")
    expect(row, "exit code", 0, workload.close())
    return row
