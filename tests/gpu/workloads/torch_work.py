"""What the PyTorch workloads share: iterations that are captured by Nanolane or by torch.profiler.

  run K          K iterations, then waits → allocated: torch.cuda.memory_allocated()
  profile K      the same under torch.profiler → trace: its file, allocated
  slice K CORE   K iterations on one core of the launching thread → cpu_ns, wall_ns of the launches
  profiled_slice K CORE    the same under torch.profiler
"""

import os
import tempfile
import time

import torch

from protocol import serve

WARM_UP = 12


def device():
    """A GPU; a CPU where only the scripts themselves are tried."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def wait():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def allocated():
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def profiler():
    kind = torch.profiler.ProfilerActivity
    return torch.profiler.profile(
        activities=[kind.CUDA if torch.cuda.is_available() else kind.CPU])


def serve_iterations(step, more=None):
    """Warms up and serves: step() enqueues one iteration."""

    def run(count):
        for _ in range(count):
            step()
        wait()
        return {"allocated": allocated()}

    def profile(count):
        with profiler() as warm_up:  # what its first use sets up is not part of the run
            step()
            wait()
        del warm_up
        time.sleep(0.3)
        with profiler() as recorded:
            result = run(count)
        path = os.path.join(tempfile.gettempdir(), f"gpu-check-torch-{os.getpid()}.json")
        recorded.export_chrome_trace(path)
        return {"trace": path, **result}

    def measure(count, core):
        os.sched_setaffinity(0, {core})  # the calling thread alone
        for _ in range(2):
            step()
        wait()
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        for _ in range(count):
            step()
        result = {"cpu_ns": time.thread_time_ns() - cpu, "wall_ns": time.perf_counter_ns() - wall}
        wait()
        return result

    def measure_profiled(count, core):
        with profiler():
            return measure(count, core)

    torch.manual_seed(7)
    run(WARM_UP)
    serve({"run": run, "profile": profile, "slice": measure, "profiled_slice": measure_profiled,
           **(more or {})})
