// What the benches say of the machine, and how they time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace nanolane::bench {

inline void PrintMachine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string model = "unknown CPU";
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  std::printf("machine: %s, %u threads\n", model.c_str(), std::thread::hardware_concurrency());
}

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Values of repeated runs.
struct Samples {
  std::vector<double> values;

  void Add(double value) { values.push_back(value); }
  double Median() const { return At(0.5); }
  double Quantile(double share) const { return At(share); }
  double Lowest() const { return At(0); }
  double Highest() const { return At(1); }

 private:
  double At(double share) const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty()
               ? 0
               : sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

}  // namespace nanolane::bench
