"""What is in a Chrome trace of `nanolane export` or torch.profiler, and how two of them differ."""

import json
import re
import shutil
import subprocess
from collections import defaultdict

DIRECTIONS = (
    ("h2d", re.compile(r"htod|h2d|host.{0,4}to.{0,4}device", re.I)),
    ("d2h", re.compile(r"dtoh|d2h|device.{0,4}to.{0,4}host", re.I)),
    ("d2d", re.compile(r"dtod|d2d|device.{0,4}to.{0,4}device", re.I)),
    ("h2h", re.compile(r"htoh|h2h|host.{0,4}to.{0,4}host", re.I)),
    ("p2p", re.compile(r"ptop|p2p|peer", re.I)),
)


def nanoseconds(text):
    """A number of microseconds with at most three decimals, exactly."""
    whole, _, part = text.partition(".")
    if not re.fullmatch(r"-?\d+", whole) or not re.fullmatch(r"\d{1,3}", part):
        return round(float(text) * 1000)
    value = abs(int(whole)) * 1000 + int(part.ljust(3, "0"))
    return -value if text.startswith("-") else value


class Microseconds(int):
    """Nanoseconds that stood in a trace as microseconds with decimals."""


def to_ns(value):
    """Nanoseconds of a `ts` or `dur`, which parse as Microseconds when they have decimals."""
    return int(value) if isinstance(value, Microseconds) else int(value) * 1000


def direction(name):
    """The direction that the name of a copy says; "other": none."""
    return next((key for key, pattern in DIRECTIONS if pattern.search(name)), "other")


def demangled(names):
    """{name: as a person reads it}; names that are not mangled stay."""
    mangled = sorted(name for name in names if name.startswith("_Z"))
    readable = {name: name for name in names}
    if mangled and shutil.which("c++filt"):
        done = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True,
                              text=True, timeout=30, check=False)
        readable.update(zip(mangled, done.stdout.splitlines()))
    return {name: re.sub(r"\s+", " ", text).strip() for name, text in readable.items()}


class Trace:
    """Counts and sums of one trace.

    kernels   {name: [count, ns]}; copies {direction: [count, bytes]}; memsets [count, bytes]
    ranges    {name: count}; early: device work that starts before its launch; unlaunched: device
    work without one; levels: framework memory as [(ns, allocated)]; memory: [(bytes, address)]
    """

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_float=lambda text: Microseconds(nanoseconds(text)))
        self.kernels = defaultdict(lambda: [0, 0])
        self.copies = defaultdict(lambda: [0, 0])
        self.memsets = [0, 0]
        self.ranges = defaultdict(int)
        self.streams = defaultdict(lambda: defaultdict(int))  # kernel → stream → count
        self.levels = []
        self.memory = []
        self.bad_times = 0
        device = []
        launches = {}
        for event in document["traceEvents"]:
            self._add(event, device, launches)
        self.levels.sort(key=lambda level: level[0])
        self._join(device, launches)
        self.launched_at = [launches.get(correlation) for correlation, _ in device]
        names = demangled(self.kernels)
        kernels = defaultdict(lambda: [0, 0])
        for name, (count, total) in self.kernels.items():
            kernels[names[name]][0] += count
            kernels[names[name]][1] += total
        self.kernels = dict(kernels)

    def launched_within(self, begin_ns, end_ns):
        """Device work whose launch call began in [begin, end)."""
        return sum(at is not None and begin_ns <= at < end_ns for at in self.launched_at)

    def _add(self, event, device, launches):
        category = event.get("cat")
        args = event.get("args", {})
        name = event.get("name", "")
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            start, length = to_ns(event["ts"]), to_ns(event.get("dur", 0))
            self.bad_times += length < 0 or start <= 0
            device.append((args.get("correlation", 0), start))
            if category == "kernel":
                self.kernels[name][0] += 1
                self.kernels[name][1] += length
                self.streams[name][event.get("tid")] += 1
            else:
                tally = self.memsets if category == "gpu_memset" else self.copies[direction(name)]
                tally[0] += 1
                tally[1] += int(args.get("bytes", 0))
        elif category in ("cuda_runtime", "cuda_driver"):
            correlation = args.get("correlation", 0)
            start = to_ns(event["ts"])
            launches[correlation] = min(start, launches.get(correlation, start))
        elif category == "user_annotation":
            self.ranges[name] += 1
        elif name == "[memory]":
            self.memory.append((int(args.get("Bytes", 0)), int(args.get("Addr", 0))))
            # Only the framework's allocator has a reserve.
            if "Total Reserved" in args:
                self.levels.append((to_ns(event["ts"]), int(args.get("Total Allocated", -1))))

    def _join(self, device, launches):
        self.early = 0
        self.unlaunched = 0
        self.earliest_ns = 0
        for correlation, start in device:
            launch = launches.get(correlation)
            if launch is None:
                self.unlaunched += 1
            elif start < launch:
                self.early += 1
                self.earliest_ns = max(self.earliest_ns, launch - start)

    def kernel_count(self):
        return sum(count for count, _ in self.kernels.values())

    def kernel_ns(self):
        return sum(total for _, total in self.kernels.values())

    def to_json(self):
        return {"kernels": self.kernels, "copies": dict(self.copies), "memsets": self.memsets}


def differences(expected, got):
    """What differs between two traces in names, counts and bytes, in words."""
    found = []
    for name in sorted(set(expected.kernels) | set(got.kernels)):
        wanted = expected.kernels.get(name, [0])[0]
        have = got.kernels.get(name, [0])[0]
        if wanted != have:
            found.append(f"{have} of {wanted} {name[:60]}")
    for name in sorted(set(expected.copies) | set(got.copies)):
        wanted, have = list(expected.copies[name]), list(got.copies[name])
        if wanted != have:
            found.append(f"{name} [count, bytes] {have}, not {wanted}")
    if expected.memsets != got.memsets:
        found.append(f"memset {got.memsets}, not {expected.memsets}")
    return found


def launch_faults(trace, all_launched=True):
    """What is wrong with the times of a trace, in words."""
    found = []
    if trace.early:
        found.append(f"{trace.early} start before their launch, by up to {trace.earliest_ns} ns")
    if trace.unlaunched and all_launched:
        found.append(f"{trace.unlaunched} without a launch")
    if trace.bad_times:
        found.append(f"{trace.bad_times} with impossible times")
    return found
