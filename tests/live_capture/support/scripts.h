// Scripts that several tests run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libs/trace/kinds.h"

namespace nanolane::testing {

inline const std::map<std::string, std::vector<trace::EventKind>> kGraphs = {
    {"g",
     {trace::EventKind::kKernel, trace::EventKind::kMemcpy, trace::EventKind::kMemset,
      trace::EventKind::kKernel}}};

// Objects of a thread, and one round of everything that a program can do on them.
inline constexpr const char* kObjects =
    "stream a\n"
    "stream b\n"
    "event e\n"
    "pool p\n"
    "graph g _Z2n1v memcpy memset _Z2n2v\n";
inline constexpr const char* kEverything =
    "push step\n"
    "push inner domain=net color=4278255360 category=7\n"
    "launch a _Z3addPfS_i n=2 ns=2000\n"
    "launch b plain_kernel api=driver ns=1000 grid=4,2,1 block=32,2,1\n"
    "launch b _Z1kv api=runtime-exc\n"
    "launch a _Z6failedv fails=1\n"
    "copy a h2d bytes=100 pageable\n"
    "copy b d2h bytes=200\n"
    "peer a 1 bytes=64\n"
    "set a bytes=33 value=7\n"
    "launch-graph g a\n"
    "record e a\n"
    "wait-event b e\n"
    "mark here\n"
    "pop domain=net\n"
    "sync-event e\n"
    "sync b\n"
    "malloc m bytes=1000\n"
    "malloc-async n a bytes=5000 pool=p\n"
    "free m\n"
    "free-async n a\n"
    "range-start r \"whole step\"\n"
    "sync-device\n"
    "range-end r\n"
    "pop\n"
    "sleep us=100\n";

// Does so until the file "stop" is there.
inline std::string BusyScript(const std::string& work, const std::string& objects = kObjects) {
  return objects + work + "say ready\nloop-until-file $DIR/stop\n" + work + "end\n";
}

}  // namespace nanolane::testing
