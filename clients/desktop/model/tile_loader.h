// Asks the query service for pixel columns on a thread of its own. Of several questions only the
// newest is answered: while a window moves, those of its former places are of no use.
//
// Ask() and Take() belong to one thread (the UI's). Destroying the loader cancels the call and
// joins the thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "clients/desktop/model/tile_frames.h"
#include "grpcpp/grpcpp.h"
#include "libs/base/mutex.h"
#include "nanolane/query/v1/query.grpc.pb.h"

namespace nanolane::desktop {

class TileLoader {
 public:
  // `on_answer` is called after each answer, on the loader's thread: wakes the UI.
  TileLoader(std::shared_ptr<grpc::Channel> channel, std::string session_id,
             std::function<void()> on_answer);
  ~TileLoader();
  TileLoader(const TileLoader&) = delete;
  TileLoader& operator=(const TileLoader&) = delete;

  // Replaces the question that waits. Asked again while it is answered, it is not asked twice.
  void Ask(TileQuestion question);
  // The newest answer since the last call; never blocks. An error is an answer too.
  std::optional<absl::StatusOr<std::shared_ptr<const TileFrame>>> Take();
  // The same; blocks until there is one. Needs a question that has been asked.
  absl::StatusOr<std::shared_ptr<const TileFrame>> Wait();

 private:
  using Answer = absl::StatusOr<std::shared_ptr<const TileFrame>>;

  void Run();
  Answer Fetch(const TileQuestion& question, grpc::ClientContext& context);

  const std::string session_id_;
  const std::function<void()> on_answer_;
  const std::unique_ptr<query::v1::QueryService::Stub> stub_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<TileQuestion> waiting_ ABSL_GUARDED_BY(mutex_);
  std::optional<TileQuestion> answering_ ABSL_GUARDED_BY(mutex_);
  std::optional<Answer> answer_ ABSL_GUARDED_BY(mutex_);
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else stands
};

}  // namespace nanolane::desktop
