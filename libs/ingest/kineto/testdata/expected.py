#!/usr/bin/env python3
"""What an import of a PyTorch trace must give, worked out apart from the importer.

    testdata/expected.py TRACE.json[.gz]...

prints, for each trace, rows for the table in real_traces_test.cc: the number of events on each
lane, and a digest over every event with its times, launch, thread, bytes and stack: the sum modulo
2^64 of FNV-1a over one line of text per event. Slow and simple on purpose: the whole file in
memory, open frames in a list.
"""
import collections
import decimal
import gzip
import json
import os
import re
import sys

WAITS = re.compile(r"(cuda|cu|hip)(Stream|Event|Device|Ctx)Synchronize(_|$)")
GPU_TYPES = (1, 6)


def nanoseconds(text):
    return int(decimal.Decimal(text) * 1000)


def frame_text(name):
    return re.sub(r" at 0x[0-9a-f]+>$", ">", name)


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def is_gpu_memory(event):
    return event.get("name") == "[memory]" and event["args"]["Device Type"] in GPU_TYPES


def stacks_by_event(events):
    """Index of each call and memory instant -> texts of the frames around it, outermost first."""
    ranks = {"python_function": 0, "cpu_op": 1, "cuda_runtime": 2, "cuda_driver": 2}
    threads = collections.defaultdict(list)
    for index, event in enumerate(events):
        rank = ranks.get(event.get("cat"))
        if rank is not None:
            start, length = nanoseconds(event["ts"]), nanoseconds(event["dur"])
            threads[event["pid"], event["tid"]].append((start, 0, -length, rank, index))
        elif is_gpu_memory(event):
            threads[event["pid"], event["tid"]].append((nanoseconds(event["ts"]), 1, 0, 0, index))
    stacks = {}
    for items in threads.values():
        open_frames = []
        for start, is_instant, minus_length, rank, index in sorted(items):
            open_frames = [frame for frame in open_frames if frame[0] > start]
            if not is_instant:
                end = start - minus_length
                if open_frames:
                    end = min(end, open_frames[-1][0])
                open_frames.append((end, frame_text(events[index]["name"])))
            if is_instant or rank == 2:
                stacks[index] = [text for _, text in open_frames]
    return stacks


def rows(events):
    """(lane, the rest of an event's line) for each event of an import."""
    stacks = stacks_by_event(events)
    calls = {}
    for index, event in enumerate(events):
        category, args = event.get("cat"), event.get("args", {})
        if category in ("cuda_runtime", "cuda_driver"):
            calls[args["correlation"]] = (event, stacks[index])
    has_records = any(event.get("cat") == "cuda_sync" for event in events)
    for index, event in enumerate(events):
        category, args = event.get("cat"), event.get("args", {})
        start = nanoseconds(event["ts"]) if "ts" in event else 0
        length = nanoseconds(event["dur"]) if "dur" in event else 0
        nothing = (-1, 0, 0, 0, 0, [])
        name = event.get("name")
        if category in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"):
            stream, kind = args["stream"], "Stream %d"
            if category == "cuda_sync":
                if args["cuda_sync_kind"] == "Event Sync":
                    stream = args["wait_on_stream"]
                if args["cuda_sync_kind"] == "Stream Wait Event":
                    length = 0
                kind = "Stream %d (sync)" if stream >= 0 else "No stream (sync)"
            lane = (args["device"], kind % stream if "%" in kind else kind)
            rest = nothing
            if args["correlation"] in calls:
                call, stack = calls[args["correlation"]]
                rest = (nanoseconds(call["ts"]), nanoseconds(call["dur"]), call["tid"])
                rest += (args["correlation"], args.get("bytes", 0), stack)
            else:
                rest = (-1, 0, 0, args["correlation"], args.get("bytes", 0), [])
        elif category in ("cuda_runtime", "cuda_driver") and WAITS.match(name) and not has_records:
            lane = (-1, "No stream (sync)")
            rest = (start, length, event["tid"], 0, 0, stacks[index])
        elif category == "user_annotation":
            lane = (-1, "NVTX thread %d" % event["tid"])
            rest = (-1, 0, event["tid"], 0, 0, [])
        elif category == "gpu_user_annotation":
            lane = (event["pid"], "NVTX stream %d" % event["tid"])
            rest = nothing
        elif is_gpu_memory(event):
            lane = (args["Device Id"], "GPU memory (framework)")
            name = "alloc" if args["Bytes"] >= 0 else "free"
            rest = (-1, 0, event["tid"], 0, args["Bytes"], stacks[index])
        else:
            continue
        yield lane, "|".join(map(str, (name, start, length) + rest[:5])) + "".join(
            "|" + text for text in rest[5])


def main():
    for path in sys.argv[1:]:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt") as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        lanes = collections.Counter()
        digest = 0
        for (gpu, label), rest in rows(events):
            lanes[gpu, label] += 1
            digest += fnv1a("%d|%s|%s" % (gpu, label, rest))
        print('{"%s", 0x%016x,' % (os.path.basename(path), digest % 2**64))
        print(" {%s}}," % ", ".join(
            '{"%d %s", %d}' % (gpu, label, count) for (gpu, label), count in sorted(lanes.items())))


if __name__ == "__main__":
    main()
