// A program that uses the simulated GPU as a script tells it to, and notes what it did:
//
//   sim_program SCRIPT [TRUTH]
//
// SCRIPT is a file, or - for standard input, of which all is read before anything is done; TRUTH is
// the file of truth.h. Commands, one a line; a block ends with `end`:
//
//   say TEXT | wait-file PATH | sleep us=N | exit [CODE] | quick-exit [CODE]
//   close-descriptors      all from 3 on, but the truth's
//   loop N … | loop-until-file PATH … | threads N … | fork [apart] …
//                 blocks; threads are joined, and so are children that do not live apart
//   init | device N | stream NAME | event NAME | pool NAME    streams `default`, `per-thread` exist
//   launch STREAM KERNEL [n=] [ns=] [grid=X,Y,Z] [block=X,Y,Z] [shared=] [fails=CODE]
//          [api=runtime|runtime-exc|driver|driver-ex]
//   storm N [threads=T] [kernel=] [ns=] [sum]      N launches; sum: one line of truth a thread
//   copy STREAM h2d|d2h|d2d|h2h bytes=N [blocking] [pageable] [n=] [ns=] | peer STREAM DEVICE
//   bytes=N set STREAM bytes=N [value=] [blocking] graph NAME KERNEL|memcpy|memset … | launch-graph
//   NAME STREAM [n=] record EVENT STREAM | wait-event STREAM EVENT | query EVENT sync STREAM |
//   sync-event EVENT | sync-device malloc NAME bytes=N | free NAME | malloc-async NAME STREAM
//   bytes=N [pool=] | free-async NAME STREAM push TEXT | mark TEXT | range-start NAME TEXT, each
//   [domain=] [color=ARGB] [category=] pop [domain=] | range-end NAME [domain=] inject LIBRARY |
//   fault SIM_NAME [VALUE] | break-cupti hold-subscription TOOL | release-subscription
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/simulated_gpu/program/runner.h"
#include "tests/simulated_gpu/program/script.h"
#include "tests/simulated_gpu/program/truth.h"

namespace nanolane::sim {
namespace {

std::string ReadAll(std::istream& from) {
  return {std::istreambuf_iterator<char>(from), std::istreambuf_iterator<char>()};
}

int Main(const std::string& script_path, const std::string& truth_path) {
  std::ifstream file(script_path);
  if (script_path != "-" && !file) {
    std::cerr << "sim_program: cannot read " << script_path << "\n";
    return 2;
  }
  const auto script = ParseScript(ReadAll(script_path == "-" ? std::cin : file));
  if (!script.ok()) {
    std::cerr << "sim_program: " << script.status().message() << "\n";
    return 2;
  }
  const auto truth = Truth::Create(truth_path);
  if (truth == nullptr) {
    std::cerr << "sim_program: cannot write " << truth_path << "\n";
    return 2;
  }
  const absl::Status status = Runner(*truth).Run(*script);
  if (status.ok()) return 0;
  std::cerr << "sim_program: " << status.message() << "\n";
  return 2;
}

}  // namespace
}  // namespace nanolane::sim

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: sim_program SCRIPT|- [TRUTH]\n";
    return 2;
  }
  return nanolane::sim::Main(argv[1], argc > 2 ? argv[2] : "");
}
