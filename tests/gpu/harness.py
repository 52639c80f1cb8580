"""Runs Nanolane and the workloads of tests/gpu and asks them things.

Every wait has an end, every process is started in a session of its own and ended by its own group, and
LD_LIBRARY_PATH is set for Nanolane's programs alone: a workload must run as it would without them.
"""

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class CheckFailed(Exception):
    """What a check found wrong, in words."""


def find_field(value, name):
    """The first value of that key anywhere in parsed JSON; None: there is none."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = find_field(item, name)
            if found is not None:
                return found
    return None


def parse_json(text):
    """The document in a text that may have lines around it; None: there is none."""
    for start in sorted(at for at in (text.find("{"), text.find("[")) if at >= 0):
        try:
            return json.JSONDecoder().raw_decode(text[start:])[0]
        except ValueError:
            continue
    return None


def end_group(process, grace=3.0):
    """Ends a process that was started here, and all of its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        try:
            os.killpg(process.pid, number)
            process.wait(grace)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def memory_kb(pid):
    """(VmRSS, VmHWM) of a process in kB; zeros once it is gone."""
    values = {"VmRSS": 0, "VmHWM": 0}
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            key, _, rest = line.partition(":")
            if key in values:
                values[key] = int(rest.split()[0])
    except OSError:
        pass
    return values["VmRSS"], values["VmHWM"]


class MemoryWatch:
    """Samples VmRSS of processes while a check runs."""

    def __init__(self, pids, period=0.2):
        self.first = {pid: memory_kb(pid)[0] for pid in pids}
        self.most = dict(self.first)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(period,), daemon=True)
        self._thread.start()

    def _run(self, period):
        while not self._over.wait(period):
            for pid in self.most:
                self.most[pid] = max(self.most[pid], memory_kb(pid)[0])

    def end(self):
        """{pid: (before, most, after)} in MB."""
        self._over.set()
        self._thread.join()
        return {pid: tuple(kb // 1024 for kb in (self.first[pid], self.most[pid],
                                                 memory_kb(pid)[0])) for pid in self.most}


class Workload:
    """A workload that answers commands, one JSON object a line."""

    def __init__(self, name, command, env, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE):
        self.name = name
        self.log = log
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(command, env=env, stdin=stdin, stdout=stdout,
                                            stderr=errors, start_new_session=True)
        self.pid = self.process.pid
        self._lines = queue.Queue()
        if stdout == subprocess.PIPE:
            self.attach(self.process.stdin, self.process.stdout)

    def attach(self, commands, answers):
        self._commands = commands
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()

    def _read(self, answers):
        for line in answers:
            self._lines.put(line)
        self._lines.put(None)

    def wait_ready(self, timeout=90):
        ready = self.answer(timeout)
        self.pid = ready.get("pid", self.pid)
        return self

    def send(self, command):
        try:
            self._commands.write(command.encode() + b"\n")
            self._commands.flush()
        except (BrokenPipeError, ValueError) as error:
            raise CheckFailed(f"{self.name} has ended: {self.tail()}") from error

    def answer(self, timeout=60):
        end = time.monotonic() + timeout
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise CheckFailed(f"{self.name} does not answer within {timeout} s") from None
            if line is None:
                self._lines.put(None)
                code = self.wait_end(5)
                raise CheckFailed(f"{self.name} has ended with {code}: {self.tail()}")
            if line.startswith(b"{"):
                answer = json.loads(line)
                if "error" in answer:
                    raise CheckFailed(f"{self.name}: {answer['error']}")
                return answer

    def ask(self, command, timeout=60):
        self.send(command)
        return self.answer(timeout)

    def alive(self):
        return self.process.poll() is None

    def wait_end(self, timeout):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def tail(self):
        lines = Path(self.log).read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:])[-300:]

    def close(self):
        """Asks it to end; its exit code."""
        if self.alive():
            try:
                self.send("quit")
            except CheckFailed:
                pass
            self.wait_end(15)
        end_group(self.process)
        return self.process.returncode


class Capture:
    """One `nanolane profile` under way."""

    def __init__(self, nanolane, pid, seconds, files):
        self.nanolane = nanolane
        self.pid = pid
        self.session = ""
        self.document = None
        self.errors = ""
        self._output, self._errors = Path(f"{files}.out"), Path(f"{files}.err")
        with open(self._output, "wb") as output, open(self._errors, "wb") as errors:
            self.process = subprocess.Popen(
                [nanolane.program, "profile", str(pid), "--duration", f"{int(seconds * 1000)}ms",
                 "--server", nanolane.address, "--format", "json"], env=nanolane.env,
                stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)

    def wait_recording(self, timeout=20):
        """Returns once the process records; CheckFailed with the reason when it does not."""
        begin = time.monotonic()
        while time.monotonic() < begin + timeout:
            # It names the session as soon as the process has answered.
            told = re.search(r"session ([0-9a-f]{32})", self._errors.read_text(errors="replace"))
            if told:
                self.session = told.group(1)
                return self
            if self.process.poll() is not None:
                self.finish(5)
                raise CheckFailed(f"profile: {self.errors.strip()[-300:] or 'ended at once'}")
            time.sleep(0.02)
        end_group(self.process)
        raise CheckFailed(f"not recording after {timeout} s")

    def finish(self, timeout=60, early=False):
        """Waits for the end (asks for it first, if early) and returns what profile printed."""
        if early and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            end_group(self.process)
            self.nanolane.note(f"profile did not end within {timeout} s")
        output = self._output.read_text(errors="replace")
        self.errors = self._errors.read_text(errors="replace")
        self.nanolane.note(f"profile {self.pid}: rc {self.process.returncode}\n{output}\n"
                           f"{self.errors}")
        self.document = parse_json(output)
        self.session = find_field(self.document, "session_id") or self.session
        if self.session:
            self.nanolane.wait_ended(self.session, timeout)
        return self.document or {}

    def require(self, timeout=60, early=False):
        """As finish(), and the session must be there."""
        document = self.finish(timeout, early)
        if not self.session:
            raise CheckFailed(f"profile gave no session: {self.errors.strip()[-300:]}")
        return document


class Nanolane:
    """`nanolane up` and the commands that talk to it."""

    def __init__(self, binaries, folder, log):
        self.program = str(Path(binaries).resolve() / "nanolane")
        self.folder = Path(folder)
        self.socket = self.folder / "collector.sock"
        self.log = Path(log)
        # Without variables of the caller's that would inject something into what is measured.
        self.plain = {key: value for key, value in os.environ.items()
                      if key not in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                     "NANOLANE_SOCKET", "NANOLANE_SERVER",
                                     "NANOLANE_INJECT_LIBRARY")}
        paths = [str(Path(binaries).resolve()), str(Path(binaries).resolve() / "lib")]
        self.env = dict(self.plain, LD_LIBRARY_PATH=":".join(
            paths + [p for p in [self.plain.get("LD_LIBRARY_PATH")] if p]))
        self.up = None
        self.address = ""
        self.captures = []

    def note(self, text):
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(text.rstrip() + "\n")

    def start(self, timeout=30):
        address_file = self.folder / "address"
        address_file.unlink(missing_ok=True)
        with open(self.log, "ab") as log:
            self.up = subprocess.Popen(
                [self.program, "up", "--data", str(self.folder / "data"), "--listen",
                 "127.0.0.1:0", "--address-file", str(address_file), "--socket",
                 str(self.socket)],
                env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if address_file.exists() and address_file.read_text().strip():
                self.address = address_file.read_text().strip()
                return self
            if self.up.poll() is not None:
                break
            time.sleep(0.05)
        text = self.log.read_text(errors="replace").strip()[-500:]
        raise CheckFailed(f"nanolane up does not come up: {text}")

    def ensure_up(self):
        if self.up is None or self.up.poll() is not None:
            self.start()

    def kill(self):
        os.killpg(self.up.pid, signal.SIGKILL)
        self.up.wait(10)

    def stop(self):
        if self.up is not None:
            end_group(self.up, grace=8)

    def command(self, *arguments, timeout=30, check=True):
        """Output of a command; CheckFailed when it fails."""
        try:
            done = subprocess.run([self.program, *arguments, "--server", self.address],
                                  env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"nanolane {arguments[0]} takes over {timeout} s") from None
        if check and done.returncode != 0:
            raise CheckFailed(f"nanolane {arguments[0]}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def json(self, *arguments, **options):
        return parse_json(self.command(*arguments, "--format", "json", **options))

    def start_workload(self, name, command, injected=True, env=None):
        """Starts a workload, by `nanolane run` unless it is to run without Nanolane."""
        variables = {**self.plain, **(env or {})}
        if injected:
            # The workload must not see the library path that Nanolane's own programs need.
            original = variables.get("LD_LIBRARY_PATH")
            restore = ["env", "-u", "LD_LIBRARY_PATH"]
            if original:
                restore = ["env", f"LD_LIBRARY_PATH={original}"]
            command = [self.program, "run", "--socket", str(self.socket), "--", *restore, *command]
            variables["LD_LIBRARY_PATH"] = self.env["LD_LIBRARY_PATH"]
        return Workload(name, command, variables, self.log.with_name("workloads.log"))

    def find_process(self, pid):
        processes = self.json("ps", check=False)
        if isinstance(processes, dict):
            processes = next((v for v in processes.values() if isinstance(v, list)), [])
        return next((p for p in processes or [] if int(p.get("pid", 0)) == pid), None)

    def wait_registered(self, pid, timeout=20):
        """Returns once the process is listed with its GPUs."""
        end = time.monotonic() + timeout
        entry = None
        while time.monotonic() < end:
            entry = self.find_process(pid)
            if entry and entry.get("gpus"):
                return entry
            time.sleep(0.05)
        raise CheckFailed(f"process {pid} is not listed with GPUs by nanolane ps: {entry}")

    def profile(self, pid, seconds):
        self.captures.append(Capture(self, pid, seconds,
                                     self.folder / f"profile{len(self.captures)}"))
        return self.captures[-1]

    def end_captures(self):
        """Ends what a check that failed has left."""
        for capture in self.captures:
            end_group(capture.process)

    def session(self, session_id):
        sessions = self.json("ls") or []
        return next((s for s in sessions if s.get("session_id") == session_id), None)

    def wait_ended(self, session_id, timeout=30):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            session = None
            if self.up.poll() is None:
                session = self.session(session_id)
            if session and session.get("ended"):
                return session
            time.sleep(0.1)
        raise CheckFailed(f"session {session_id} has not ended after {timeout} s")

    def window(self, capture):
        """[on, off] of a capture in ns of CLOCK_MONOTONIC; CheckFailed when it is not told."""
        edges = []
        for edge in ("on_ns", "off_ns"):
            for document in (self.session(capture.session), capture.document):
                value = find_field(document, "capture." + edge)
                value = find_field(document, edge) if value is None else value
                if value is not None:
                    edges.append(int(value))
                    break
        if len(edges) != 2:
            raise CheckFailed("no label capture.on_ns or capture.off_ns in ls or profile")
        return edges

    def lost(self, capture):
        """Lost events of a session: the larger of what ls and profile say."""
        told = [0]
        session = self.session(capture.session)
        if session:
            told.append(int(session.get("lost") or 0))
        losses = find_field(capture.document, "losses")
        if isinstance(losses, list):
            told.append(sum(int(loss.get("count", 0)) for loss in losses))
        return max(told)

    def stats(self, session_id, timeout=90):
        return self.json("stats", session_id, timeout=timeout) or {}

    def count(self, session_id, kind, pattern=""):
        """Events of a kind whose name has the pattern in it."""
        return sum(op["count"] for op in self.stats(session_id).get("ops", [])
                   if op["kind"] == kind and re.search(pattern, op["name"]))

    def export(self, session_id, timeout=60):
        """Path of the session as a Chrome trace; removed with the scratch folder."""
        path = self.folder / f"{session_id}.json"
        self.command("export", session_id, "--to", "chrome", "-o", str(path), timeout=timeout)
        return path

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
