#include "tests/simulated_gpu/program/ranges.h"

#ifdef NANOLANE_HAVE_NVTX

#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>

namespace nanolane::sim::ranges {
namespace {

// Null: the default domain, whose functions are others.
nvtxDomainHandle_t DomainNamed(const std::string& name) {
  static std::mutex mutex;
  static auto* const domains = new std::map<std::string, nvtxDomainHandle_t>;
  if (name.empty()) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = domains->find(name);
  if (found != domains->end()) return found->second;
  return domains->emplace(name, nvtxDomainCreateA(name.c_str())).first->second;
}

nvtxEventAttributes_t AttributesOf(const RangeOptions& options) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = options.category;
  attributes.colorType = options.color == 0 ? NVTX_COLOR_UNKNOWN : NVTX_COLOR_ARGB;
  attributes.color = options.color;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = options.text.c_str();
  return attributes;
}

bool IsPlain(const RangeOptions& options) { return options.color == 0 && options.category == 0; }

}  // namespace

bool Push(const RangeOptions& options) {
  const nvtxEventAttributes_t attributes = AttributesOf(options);
  if (!options.domain.empty()) {
    nvtxDomainRangePushEx(DomainNamed(options.domain), &attributes);
  } else if (IsPlain(options)) {
    nvtxRangePushA(options.text.c_str());
  } else {
    nvtxRangePushEx(&attributes);
  }
  return true;
}

bool Pop(const std::string& domain) {
  if (domain.empty()) {
    nvtxRangePop();
  } else {
    nvtxDomainRangePop(DomainNamed(domain));
  }
  return true;
}

bool Mark(const RangeOptions& options) {
  const nvtxEventAttributes_t attributes = AttributesOf(options);
  if (!options.domain.empty()) {
    nvtxDomainMarkEx(DomainNamed(options.domain), &attributes);
  } else if (IsPlain(options)) {
    nvtxMarkA(options.text.c_str());
  } else {
    nvtxMarkEx(&attributes);
  }
  return true;
}

bool Start(const RangeOptions& options, uint64_t& id) {
  const nvtxEventAttributes_t attributes = AttributesOf(options);
  id = options.domain.empty() ? nvtxRangeStartEx(&attributes)
                              : nvtxDomainRangeStartEx(DomainNamed(options.domain), &attributes);
  return true;
}

bool End(const std::string& domain, uint64_t id) {
  if (domain.empty()) {
    nvtxRangeEnd(id);
  } else {
    nvtxDomainRangeEnd(DomainNamed(domain), id);
  }
  return true;
}

}  // namespace nanolane::sim::ranges

#else

namespace nanolane::sim::ranges {

bool Push(const RangeOptions&) { return false; }
bool Pop(const std::string&) { return false; }
bool Mark(const RangeOptions&) { return false; }
bool Start(const RangeOptions&, uint64_t&) { return false; }
bool End(const std::string&, uint64_t) { return false; }

}  // namespace nanolane::sim::ranges

#endif
