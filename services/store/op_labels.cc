#include "services/store/op_labels.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "libs/base/status_macros.h"
#include "libs/trace/wire.h"

namespace nanolane::store {

size_t EpochLabels::Bytes() const {
  size_t bytes = ops.size() * sizeof(OpLabel);
  for (const std::string& name : names) bytes += sizeof(std::string) + name.size();
  return bytes;
}

EpochLabels LabelsOf(const nanolane::trace::v1::DictionaryDelta& dictionary) {
  EpochLabels labels;
  std::unordered_map<std::string_view, uint32_t> number_of;
  const auto add = [&](const trace::Op& op) {
    const bool known = op.name > 0 && static_cast<int>(op.name) <= dictionary.strings_size();
    const std::string_view name =
        known ? std::string_view(dictionary.strings(static_cast<int>(op.name) - 1)) : "";
    const auto [at, added] =
        number_of.try_emplace(name, static_cast<uint32_t>(labels.names.size()));
    if (added) labels.names.emplace_back(name);
    labels.ops.push_back(
        {.category = trace::CategoryOf(op.kind, op.family, op.copy_direction), .name = at->second});
  };
  add({});
  for (const nanolane::trace::v1::Op& op : dictionary.ops()) add(trace::FromProto(op));
  return labels;
}

absl::StatusOr<std::shared_ptr<const EpochLabels>> OpLabels::Of(const EpochOfSession& epoch,
                                                                uint32_t ops, const Load& load) {
  const auto is_it = [&](const Kept& kept) { return kept.epoch == epoch; };
  {
    base::MutexLock lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), is_it);
    if (found != kept_.end() && found->labels->ops.size() > ops) {
      kept_.splice(kept_.begin(), kept_, found);
      return found->labels;
    }
  }
  ASSIGN_OR_RETURN(EpochLabels loaded, load());
  auto labels = std::make_shared<const EpochLabels>(std::move(loaded));
  base::MutexLock lock(mutex_);
  kept_.remove_if(is_it);
  kept_.push_front({.epoch = epoch, .labels = labels});
  size_t total = 0;
  for (auto at = kept_.begin(); at != kept_.end();) {
    total += at->labels->Bytes();
    // What was asked for now stays, however large.
    at = total > kMostBytes && at != kept_.begin() ? kept_.erase(at) : std::next(at);
  }
  return labels;
}

void OpLabels::Forget(const std::string& session_id) {
  base::MutexLock lock(mutex_);
  kept_.remove_if([&](const Kept& kept) { return kept.epoch.session_id == session_id; });
}

}  // namespace nanolane::store
