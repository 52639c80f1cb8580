#include "clients/desktop/model/scope_link.h"

#include <algorithm>
#include <utility>

namespace nanolane::desktop {

Input ScopeLink::BeforeStep(const Input& input, int64_t now_unix_ns) {
  const TimelineModel& model = feed_.model();
  desk_.Update(model, {.catalog = catalog_.sessions(),
                       .density = catalog_.density(),
                       .overview = viewer_.session_overview(),
                       .sight = viewer_.viewport().shown(),
                       .unix_ns = now_unix_ns});
  const bool was_open = desk_.picker().open();
  desk_.Step(input);
  catalog_.SetEager(desk_.picker().open() || model.recording() || model.sessions().empty());
  const double columns = viewer_.screen().lanes.width * viewer_.device_scale();
  std::optional<DensityQuestion> question = desk_.Question(columns);
  if (question.has_value()) catalog_.Ask(*std::move(question));
  viewer_.SetStrip(desk_.strip());
  if (!was_open) return input;
  Input none;
  none.mouse_x = input.mouse_x;
  none.mouse_y = input.mouse_y;
  none.mouse_taken = true;
  none.typing = true;
  return none;
}

void ScopeLink::AfterFrame(bool reload) {
  const std::optional<timeline::Window> outside = viewer_.TakeOutside();
  if (outside.has_value()) desk_.OpenAt(*outside);
  const std::optional<OpenRequest> request = desk_.TakeRequest();
  if (request.has_value()) {
    viewer_.OpenNextAt(request->window);
    feed_.Open(request->session);
  } else if (reload && !feed_.model().sessions().empty()) {
    feed_.Open(feed_.model().sessions().front().id);
  }
}

}  // namespace nanolane::desktop
