// A picture of a session without a person and without a display: loads everything, draws one
// settled frame, writes a PNG.
#pragma once

#include "absl/status/status.h"
#include "clients/desktop/model/timeline_model.h"
#include "clients/desktop/platform/command_line.h"
#include "clients/desktop/render/frame_image.h"

namespace nanolane::desktop {

// Draws what is `loaded`. Needs a current context.
absl::StatusOr<Image> DrawFrame(const Loaded& loaded, const CommandLine& line);

// Everything, from the connection to the file. Errors: the loader's; NOT_FOUND when the range holds
// no event; UNAVAILABLE when the file cannot be written.
absl::Status TakeScreenshot(const CommandLine& line);

}  // namespace nanolane::desktop
