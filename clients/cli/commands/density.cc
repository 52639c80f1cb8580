// nanolane density: where the data of a scope lies in time.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/time/time.h"
#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/output/table.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"
#include "libs/base/time_text.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string UnixTime(int64_t index, uint32_t level) {
  const absl::Time time = absl::FromUnixNanos(index << level);
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S", time, absl::UTCTimeZone());
}

class Density final : public Command {
 public:
  explicit Density(CLI::App& command) {
    command.add_option("--project", scope_project_, "Only this project");
    command.add_option("--host", scope_host_, "Only this host");
    command.add_option("--process", scope_process_, "Only processes of this name");
    command.add_option("--bins", bins_, "Bins at most")->capture_default_str();
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    query_v1::GetDensityRequest request;
    request.mutable_scope()->set_project(scope_project_);
    request.mutable_scope()->set_host(scope_host_);
    request.mutable_scope()->set_process(scope_process_);
    request.set_max_bins(bins_);
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    query_v1::GetDensityResponse density;
    RETURN_IF_ERROR(rpc::FromGrpc(client->stub().GetDensity(&context, request, &density)));
    options.json() ? PrintJson(density) : PrintTables(density);
    return absl::OkStatus();
  }

 private:
  static void PrintJson(const query_v1::GetDensityResponse& density) {
    Json layers = Json::array();
    for (const auto& layer : density.layers()) {
      Json bins = Json::array();
      for (const auto& bin : layer.bins()) {
        Json kinds = Json::object();
        for (const auto& cell : bin.cells()) {
          kinds[KindName(cell.kind())] = {{"events", cell.events()}, {"busy_ns", cell.busy_ns()}};
        }
        bins.push_back({{"start_unix_ns", bin.index() << layer.level()},
                        {"kinds", std::move(kinds)},
                        {"lost", bin.losses()}});
      }
      layers.push_back({{"bin_ns", int64_t{1} << layer.level()}, {"bins", std::move(bins)}});
    }
    const Json document = {{"sessions", density.sessions()}, {"layers", std::move(layers)}};
    std::cout << document.dump(2) << "\n";
  }

  static void PrintTables(const query_v1::GetDensityResponse& density) {
    std::cout << base::GroupedCount(density.sessions()) << " sessions\n";
    for (const auto& layer : density.layers()) {
      if (layer.bins().empty()) continue;
      std::cout << "\nbins of " << base::FormatDuration(int64_t{1} << layer.level()) << "\n";
      Table table({{"from (UTC)"},
                   {"kind"},
                   {"events", Align::kRight},
                   {"busy", Align::kRight},
                   {"lost", Align::kRight}});
      for (const auto& bin : layer.bins()) AddBin(bin, layer.level(), table);
      std::cout << table.Render();
    }
  }

  static void AddBin(const nanolane::trace::v1::DensityBin& bin, uint32_t level, Table& table) {
    std::string time = UnixTime(bin.index(), level);
    std::string lost = bin.losses() == 0 ? "" : base::GroupedCount(bin.losses());
    for (const auto& cell : bin.cells()) {
      table.AddRow(
          {std::exchange(time, ""), KindName(cell.kind()), base::GroupedCount(cell.events()),
           base::FormatDuration(static_cast<int64_t>(cell.busy_ns())), std::exchange(lost, "")});
    }
    if (bin.cells().empty()) table.AddRow({time, "", "", "", lost});
  }

  std::string scope_project_;
  std::string scope_host_;
  std::string scope_process_;
  uint32_t bins_ = 40;
};

}  // namespace

std::unique_ptr<Command> AddDensity(CLI::App& command) {
  return std::make_unique<Density>(command);
}

}  // namespace nanolane::cli
