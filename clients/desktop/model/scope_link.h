// Ties what is chosen to what is shown: gives the catalog's answers to the desk, its questions to
// the catalog, the strip to the viewer, and what is to be opened to the feed. Two calls a frame,
// around the viewer's step and the drawing. UI thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "clients/desktop/model/scope_desk.h"
#include "clients/desktop/model/session_catalog.h"
#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/model/viewer.h"

namespace nanolane::desktop {

class ScopeLink {
 public:
  // All of these must live as long as this.
  ScopeLink(SessionCatalog& catalog, TimelineFeed& feed, Viewer& viewer, ScopeDesk& desk)
      : catalog_(catalog), feed_(feed), viewer_(viewer), desk_(desk) {}

  // Before the viewer's step. Returns what the viewer may have of the input: nothing of the
  // keyboard and the mouse's buttons while a picker is open.
  Input BeforeStep(const Input& input, int64_t now_unix_ns);
  // After the frame is drawn. `reload`: the session in sight shall be read anew.
  void AfterFrame(bool reload);

 private:
  SessionCatalog& catalog_;
  TimelineFeed& feed_;
  Viewer& viewer_;
  ScopeDesk& desk_;
};

}  // namespace nanolane::desktop
