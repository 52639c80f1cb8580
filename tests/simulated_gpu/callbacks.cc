#include "tests/simulated_gpu/callbacks.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim {
namespace callbacks {

std::atomic<bool> ids_on[kMaxDomains][kMaxCallbackIds];

namespace {

struct Subscriber {
  CUpti_CallbackFunc callback;
  void* user_data;
  std::string name;
};

// What the real one frees as it is finalized, though calls that it has told the beginning of come
// back through it. Large, so that it is unmapped when it is freed: who comes back crashes.
struct Tables {
  std::atomic<uint64_t> calls;
  char rest[600'000];
};

struct Registry {
  std::mutex mutex;
  std::atomic<Tables*> tables{nullptr};
  // Of calls whose beginning has been told and whose end has not.
  std::atomic<int64_t> under_way{0};
  // Callbacks were turned off amid such calls, so that their ends are not told. The real one
  // damages the heap as it is finalized then.
  std::atomic<bool> is_torn{false};
  std::atomic<Subscriber*> current{nullptr};
  // A call may still be in a subscriber that has left, so none is deleted.
  std::vector<std::unique_ptr<Subscriber>> all;

  Registry() {
    const std::string foreign = ForeignSubscriberFromEnvironment();
    if (!foreign.empty()) Add(nullptr, nullptr, foreign);
  }

  void Add(CUpti_CallbackFunc callback, void* user_data, std::string_view name) {
    all.push_back(std::make_unique<Subscriber>(
        Subscriber{callback, user_data, "CUPTI for " + std::string(name)}));
    current.store(all.back().get());
  }
};

Registry& GetRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

// Under the registry's mutex.
Tables& TheTables() {
  Registry& registry = GetRegistry();
  if (registry.tables.load() == nullptr) {
    registry.tables.store(static_cast<Tables*>(calloc(1, sizeof(Tables))));
  }
  return *registry.tables.load();
}

void NoteTornCalls() {
  Registry& registry = GetRegistry();
  if (registry.under_way.load() > 0) registry.is_torn.store(true);
}

void TurnAllOff() {
  for (auto& domain : ids_on) {
    for (std::atomic<bool>& id : domain) id.store(false);
  }
}

bool IsCurrent(CUpti_SubscriberHandle handle) {
  return handle != nullptr && reinterpret_cast<Subscriber*>(handle) == GetRegistry().current.load();
}

bool IsDomain(CUpti_CallbackDomain domain) {
  return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE &&
         static_cast<size_t>(domain) < kMaxDomains;
}

}  // namespace

CUptiResult Subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user_data,
                      std::string_view name, std::string& holder) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const int64_t error = GetFaults().subscribe_error.load();
  if (error != 0) return static_cast<CUptiResult>(error);
  Registry& registry = GetRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (const Subscriber* other = registry.current.load(); other != nullptr) {
    holder = other->name;
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  AlignClientClock();
  (void)TheTables();
  registry.Add(callback, user_data, name);
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(registry.current.load());
  return CUPTI_SUCCESS;
}

CUptiResult Unsubscribe(CUpti_SubscriberHandle handle) {
  Registry& registry = GetRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (!IsCurrent(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  NoteTornCalls();
  TurnAllOff();
  registry.current.store(nullptr);
  return CUPTI_SUCCESS;
}

CUptiResult Enable(CUpti_SubscriberHandle handle, bool on, CUpti_CallbackDomain domain,
                   uint32_t id) {
  Registry& registry = GetRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (!IsCurrent(handle) || !IsDomain(domain) || id == 0 || id >= kMaxCallbackIds) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (!on && ids_on[domain][id].load()) NoteTornCalls();
  ids_on[domain][id].store(on);
  return CUPTI_SUCCESS;
}

CUptiResult EnableDomain(CUpti_SubscriberHandle handle, bool on, CUpti_CallbackDomain domain) {
  Registry& registry = GetRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (!IsCurrent(handle) || !IsDomain(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::atomic<bool>& id : ids_on[domain]) id.store(on);
  return CUPTI_SUCCESS;
}

void* Finalize() {
  Registry& registry = GetRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (registry.is_torn.load()) {
    std::fprintf(
        stderr,
        "simulated CUPTI: finalized after callbacks were turned off amid calls, which damages "
        "the heap of the real one\n");
    std::abort();
  }
  TurnAllOff();
  registry.current.store(nullptr);
  return registry.tables.exchange(nullptr);
}

bool AreCallsUnderWay() { return GetRegistry().under_way.load() > 0; }

void* BeginTelling() {
  Registry& registry = GetRegistry();
  registry.under_way.fetch_add(1);
  return registry.tables.load();
}

void EndTelling(void* tables) {
  if (tables != nullptr)
    static_cast<Tables*>(tables)->calls.fetch_add(1, std::memory_order_relaxed);
  GetRegistry().under_way.fetch_sub(1);
}

void RemoveForeign() {
  Registry& registry = GetRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const Subscriber* subscriber = registry.current.load();
  if (subscriber != nullptr && subscriber->callback == nullptr) registry.current.store(nullptr);
}

void Tell(CUpti_CallbackDomain domain, uint32_t id, const void* data) {
  if (!IsOn(domain, id)) return;
  const Subscriber* subscriber = GetRegistry().current.load();
  if (subscriber == nullptr || subscriber->callback == nullptr) return;
  subscriber->callback(subscriber->user_data, domain, id, data);
}

}  // namespace callbacks

uint32_t NextCorrelation() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

ApiCall::ApiCall(const ApiCallOptions& options) : options_(options) {
  if (activity::IsApiOn(Kind(), options_.cbid)) start_ns_ = MonotonicNow();
  if (!callbacks::IsOn(options_.domain, options_.cbid)) return;
  is_told_ = true;
  tables_ = callbacks::BeginTelling();
  Tell(CUPTI_API_ENTER);
}

ApiCall::~ApiCall() {
  if (callbacks::IsOn(options_.domain, options_.cbid)) Tell(CUPTI_API_EXIT);
  if (is_told_) callbacks::EndTelling(tables_);
  if (start_ns_ == 0) return;
  Work work;
  work.kind = Kind();
  work.correlation = options_.correlation;
  work.start_ns = start_ns_;
  work.end_ns = MonotonicNow();
  work.api = {options_.cbid, activity::ThreadId(), static_cast<uint32_t>(result_)};
  activity::Record(work);
}

CUpti_ActivityKind ApiCall::Kind() const {
  return options_.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                        : CUPTI_ACTIVITY_KIND_DRIVER;
}

void ApiCall::Tell(CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = options_.function;
  data.functionParams = options_.parameters;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &result_ : nullptr;
  data.symbolName = options_.symbol;
  data.context = options_.context.Handle();
  data.contextUid = options_.context.id;
  data.correlationData = &correlation_data_;
  data.correlationId = options_.correlation;
  callbacks::Tell(options_.domain, options_.cbid, &data);
}

void TellContextCreated(Context& context) {
  CUpti_ResourceData data{};
  data.context = context.Handle();
  callbacks::Tell(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
  if (!activity::IsOn(CUPTI_ACTIVITY_KIND_CONTEXT)) return;
  Work work;
  work.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  work.context = context.id;
  work.device = context.device;
  activity::Record(work);
}

void TellStreamCreated(Stream& stream) {
  CUpti_ResourceData data{};
  data.context = stream.context.Handle();
  data.resourceHandle.stream = stream.Handle();
  callbacks::Tell(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
  if (!activity::IsOn(CUPTI_ACTIVITY_KIND_STREAM)) return;
  Work work;
  work.kind = CUPTI_ACTIVITY_KIND_STREAM;
  work.context = stream.context.id;
  work.stream = stream.id;
  activity::Record(work);
}

void TellPoolCreated(Pool& pool) {
  if (!activity::IsOn(CUPTI_ACTIVITY_KIND_MEMORY_POOL)) return;
  Work work;
  work.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  work.start_ns = work.end_ns = MonotonicNow();
  work.device = pool.device;
  work.memory.pool = pool.address;
  activity::Record(work);
}

void HoldSubscription(std::string_view tool) {
  CUpti_SubscriberHandle handle = nullptr;
  std::string holder;
  (void)callbacks::Subscribe(&handle, nullptr, nullptr, tool, holder);
}

void ReleaseSubscription() { callbacks::RemoveForeign(); }

void BreakCupti() {
  CUpti_StateData data{};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  data.notification.message = "the simulated CUPTI broke down, as it was asked to";
  callbacks::Tell(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
  activity::Finalize();
  // Calls may be under way: it stays.
  static std::atomic<void*> left{nullptr};
  left.store(callbacks::Finalize());
}

}  // namespace nanolane::sim
