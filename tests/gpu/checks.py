"""What every check of tests/gpu is given, and what it hands back."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import HERE, CheckFailed, MemoryWatch, Nanolane, end_group, find_field
from traces import Trace, launch_faults

WORKLOADS = HERE / "workloads"
# Workload → what it is linked with.
CUDA_PROGRAMS = {"storm": [], "graph": [], "copies": ["-lcuda", "-ldl"], "pulse": [], "busy": [],
                 "peer": []}


@dataclass
class Row:
    """One line of the table; `faults` empty means that it went well."""

    workload: str
    captures: int = 0
    expected: str = "-"
    got: str = "-"
    lost: int = 0
    early: int = 0
    ratio: float | None = None
    faults: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    seconds: float = 0.0
    details: dict = field(default_factory=dict)


def gpu_architecture():
    """sm_NN of the first GPU; sm_90 when it cannot be asked."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=30, check=True)
        return "sm_" + done.stdout.split()[0].replace(".", "")
    except (OSError, subprocess.SubprocessError, IndexError):
        return "sm_90"


def nvcc_path():
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    for home in filter(None, homes):
        if Path(home, "bin/nvcc").exists():
            return str(Path(home, "bin/nvcc"))
    return "nvcc"


def compile_programs(folder, names, log, timeout=150):
    """Compiles the CUDA workloads, all at once; {name: why it failed}."""
    nvcc = [nvcc_path(), "-O2", "-std=c++17", f"-arch={gpu_architecture()}"]
    # Where libcuda.so to link with lies, also on machines whose driver is elsewhere.
    stubs = Path(nvcc[0]).resolve().parent.parent / "lib64/stubs"
    commands = {name: [*nvcc, "-o", str(folder / name), str(WORKLOADS / f"{name}.cu"),
                       f"-L{stubs}", *CUDA_PROGRAMS[name]] for name in names}
    if "copies" in commands:
        # One part of it has another default stream, so it is compiled on its own before.
        part = str(folder / "per_thread.o")
        first = [*nvcc, "--default-stream", "per-thread", "-c", "-o", part,
                 str(WORKLOADS / "per_thread.cu")]
        commands["copies"] = ["bash", "-c", f"{shlex.join(first)} && exec "
                              + shlex.join([*commands["copies"], part])]
    running = {}
    failed = {}
    with open(log, "ab") as output:
        for name, command in commands.items():
            try:
                running[name] = subprocess.Popen(command, stdout=output, stderr=output,
                                                 stdin=subprocess.DEVNULL, start_new_session=True)
            except OSError as error:
                failed[name] = str(error)
        end = time.monotonic() + timeout
        for name, process in running.items():
            try:
                if process.wait(max(1, end - time.monotonic())) != 0:
                    failed[name] = "does not compile: see workloads.log"
            except subprocess.TimeoutExpired:
                end_group(process)
                failed[name] = f"not compiled within {timeout} s"
    return failed


class Context:
    """The servers and workloads of a run."""

    def __init__(self, binaries, out):
        self.out = Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.scratch = Path(tempfile.mkdtemp(prefix="gpu-check."))
        self.nanolane = Nanolane(binaries, self.scratch, self.out / "nanolane.log")
        self.uncompiled = {}
        self.workloads = []

    def compile(self, names):
        self.uncompiled = compile_programs(self.scratch, names, self.out / "workloads.log")

    def start_cuda(self, program, *arguments, injected=True, env=None):
        if program in self.uncompiled:
            raise CheckFailed(f"{program}: {self.uncompiled[program]}")
        command = [str(self.scratch / program), *map(str, arguments)]
        return self._start(program, command, injected, env)

    def start_python(self, script, *arguments, injected=True, env=None):
        command = [sys.executable, str(WORKLOADS / script), *map(str, arguments)]
        return self._start(script, command, injected, env)

    def _start(self, name, command, injected, env):
        workload = self.nanolane.start_workload(name, command, injected, env)
        self.workloads.append(workload)
        return workload

    def wait_ready(self, workload, injected=True, timeout=90):
        workload.wait_ready(timeout)
        if injected:
            self.nanolane.wait_registered(workload.pid)
        return workload

    def end_workloads(self):
        for workload in self.workloads:
            end_group(workload.process)
        self.workloads = []
        self.nanolane.end_captures()

    def watch(self, workload):
        return MemoryWatch([workload.pid, self.nanolane.up.pid])

    def capture(self, workload, command, longest=20, timeout=60):
        """Captures what a command does, with idle time around it: (capture, its answer)."""
        capture = self.nanolane.profile(workload.pid, longest)
        capture.wait_recording()
        time.sleep(0.3)
        answer = workload.ask(command, timeout)
        time.sleep(0.2)
        capture.require(timeout, early=True)
        return capture, answer

    def trace(self, capture, row, all_launched=True):
        """The captured trace; what is wrong with its times goes into the row."""
        path = self.nanolane.export(capture.session)
        trace = Trace(path)
        path.unlink()
        row.early += trace.early
        row.faults += launch_faults(trace, all_launched)
        return trace

    def add_losses(self, capture, row):
        lost = self.nanolane.lost(capture)
        row.lost += lost
        if lost:
            row.faults.append(f"{lost} lost")

    def kernels_told(self, capture):
        """Kernels by what profile printed; None: it printed none."""
        by_kind = find_field(capture.document, "by_kind")
        if isinstance(by_kind, dict):
            return int(by_kind.get("kernel", 0))
        if isinstance(by_kind, list):
            return sum(int(k.get("count", 0)) for k in by_kind
                       if str(k.get("kind", "")).lower().endswith("kernel"))
        return None

    def close(self):
        self.end_workloads()
        self.nanolane.stop()
        self.nanolane.remove()
