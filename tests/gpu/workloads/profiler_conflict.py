"""torch.profiler and Nanolane in one process.

  run K       K iterations, then waits
  record MS   iterations for MS milliseconds under torch.profiler → first a line once it records, then
              iterations, events: what it saw
"""

import json
import os
import tempfile
import time

import torch

from protocol import answer, serve
from torch_work import device, profiler, wait


def main():
    torch.manual_seed(6)
    x = torch.randn(512, 512, device=device())

    def run(count):
        for _ in range(count):
            torch.relu(x @ x)
        wait()
        return {"iterations": count}

    def record(milliseconds):
        iterations = 0
        with profiler() as recorded:
            run(1)
            iterations += 1
            answer(recording=True)
            end = time.monotonic() + milliseconds / 1000
            while time.monotonic() < end:
                run(20)
                time.sleep(0.005)
                iterations += 20
        path = os.path.join(tempfile.gettempdir(), f"gpu-check-conflict-{os.getpid()}.json")
        recorded.export_chrome_trace(path)
        kind = "kernel" if torch.cuda.is_available() else "cpu_op"
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        os.unlink(path)
        kernels = [event for event in events if event.get("cat") == kind]
        return {"iterations": iterations, "events": len(kernels)}

    run(10)
    serve({"run": run, "record": record})


main()
