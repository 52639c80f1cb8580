// The scope in work: what the catalog knows, what has been chosen, the open picker, the strip's
// window, and what is to be opened because of it.
//
// Until somebody chooses, the scope is that of the session in sight: its project, host and process,
// at all times. A choice that leaves the session in sight out opens the newest that it selects, a
// running one before all others; a range of time in which nothing lies opens nothing. Times of the
// strip are those of the session in sight, so that one axis serves the strip and the lanes; the
// server is asked in Unix time. UI thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/catalog_facts.h"
#include "clients/desktop/model/scope.h"
#include "clients/desktop/model/scope_picker.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

// A session to be shown instead of the one in sight.
struct OpenRequest {
  std::string session;
  std::optional<timeline::Window> window;  // of its time; nothing: its own opening view
};

class ScopeDesk {
 public:
  // What a frame knows. `overview` is the useful extent of the session in sight and `sight` its
  // part in sight, both in its own time.
  struct Now {
    std::shared_ptr<const CatalogSnapshot> catalog;  // may be null: there is none
    std::shared_ptr<const DensityAnswer> density;    // may be null
    timeline::Window overview;
    timeline::Window sight;
    int64_t unix_ns = 0;
  };
  void Update(const TimelineModel& model, const Now& now);

  const Scope& scope() const { return scope_; }
  // The sessions that are known; the one in sight is as the model knows it.
  const std::vector<SessionFacts>& sessions() const { return sessions_; }
  // Positions in sessions() of those in the scope.
  const std::vector<size_t>& selected() const { return selected_; }
  // The session in sight; null: none.
  const SessionFacts* shown() const;
  int64_t now_unix_ns() const { return now_.unix_ns; }

  // One frame's keys for the open picker.
  void Step(const Input& input);
  ScopePicker& picker() { return picker_; }
  const ScopePicker& picker() const { return picker_; }
  void TogglePicker(ScopePart part);
  void Choose(ScopePart part, const Choice& choice);
  // Takes the picker's choice at `row`.
  void TakeRow(size_t row);

  // What the strip shows, in the time of the session in sight; nothing while none is.
  const std::optional<timeline::Window>& strip() const { return strip_; }
  // Whether the strip's bars are the server's bins over `columns` pixels. Else the loaded events
  // draw them: they are all that the scope has, and finer than the server's bins.
  bool StripFromServer(double columns) const;
  const DensityAnswer* density() const { return now_.density.get(); }
  // A time of the session in sight as Unix time.
  timeline::Window ToUnix(const timeline::Window& session_time) const;
  timeline::Window FromUnix(const timeline::Window& unix_window) const;
  // The session of the scope, other than the one in sight, with the most of `unix_window`.
  const SessionFacts* OtherIn(const timeline::Window& unix_window) const;
  // Whether the strip covers more sessions than the one in sight.
  bool StripOfSeveral() const { return selected_.size() > 1; }
  // For `columns` pixels; nothing while there is nothing to ask for.
  std::optional<DensityQuestion> Question(double columns) const;

  // Opens the session that lies at `window`, of the time of the session in sight. False: none does.
  bool OpenAt(const timeline::Window& window);
  std::optional<OpenRequest> TakeRequest();

 private:
  void UpdateSessions(const TimelineModel& model, const Now& now);
  void UpdateStrip();
  void UpdateChoices();
  void Reselect();

  Now now_;
  Scope scope_;
  bool chosen_ = false;  // by somebody
  std::vector<SessionFacts> sessions_;
  std::string shown_id_;
  std::optional<size_t> shown_;
  std::vector<size_t> selected_;
  std::optional<timeline::Window> strip_;
  ScopePicker picker_;
  std::optional<OpenRequest> request_;
};

}  // namespace nanolane::desktop
