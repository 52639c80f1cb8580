// A picture of a session without a person and without a display: loads everything, draws one
// settled frame, writes a PNG.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "clients/desktop/model/timeline_model.h"
#include "clients/desktop/platform/command_line.h"
#include "clients/desktop/render/frame_image.h"

namespace nanolane::desktop {

// What a picture is drawn from. `show` is told what of the lanes was in sight after each frame;
// true: there is more to draw now.
struct PictureSource {
  std::function<Loaded()> loaded;
  std::function<bool(const LanesInSight&)> show = [](const LanesInSight&) { return false; };
};

// Draws frames until nothing more comes. Needs a current context.
absl::StatusOr<Image> DrawFrame(const PictureSource& source, const CommandLine& line);

// Everything, from the connection to the file. Errors: the loader's; NOT_FOUND when the range holds
// no event; UNAVAILABLE when the file cannot be written.
absl::Status TakeScreenshot(const CommandLine& line);

}  // namespace nanolane::desktop
