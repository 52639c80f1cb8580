// The search field of the top bar: the pattern, what it finds in the whole session, what is wrong
// with it; and beside it the conditions that have no entry in the legend: durations and streams.
// UI thread only.
#pragma once

#include <string>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

class SearchBox {
 public:
  // `above` paints over everything: what hangs below the field.
  void Paint(Painter& painter, Painter& above, Viewer& viewer);

 private:
  void PaintField(Painter& painter, const Rect& box, Viewer& viewer);
  void PaintFilterButton(Painter& painter, const Rect& button, Viewer& viewer) const;
  void PaintFilterCard(const Painter& below, const Rect& under, Viewer& viewer);
  // A labelled text field of the card; `good` says whether its text means something. True: edited.
  bool Field(Painter& painter, const Rect& place, const char* label, const char* hint, bool good,
             std::string& text) const;

  std::string pattern_;
  std::string least_;
  std::string most_;
  std::string streams_;
  bool typing_ = false;
  bool least_good_ = true;
  bool most_good_ = true;
  bool streams_good_ = true;
};

// "1 234 hits · 12.3 ms in all · mean 9.97 µs"; what is wrong with a pattern that is none.
std::string SearchSummary(const Viewer& viewer);

}  // namespace nanolane::desktop
