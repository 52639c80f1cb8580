// A picture of a session without a person and without a display: loads everything, draws one
// settled frame, writes a PNG.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "clients/desktop/model/input.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/platform/command_line.h"
#include "clients/desktop/render/frame_image.h"

namespace nanolane::desktop {

// What somebody does before a frame: the frames of a picture are counted from 0.
using FrameHand = std::function<void(int frame, Viewer& viewer, Input& input)>;
inline constexpr int kPictureFrames = 4;

// Draws what is `loaded`, after what `hand` has done with it. Needs a current context.
absl::StatusOr<Image> DrawFrame(const Loaded& loaded, const CommandLine& line,
                                const FrameHand& hand = {});

// Everything, from the connection to the file. Errors: the loader's; NOT_FOUND when the range holds
// no event; UNAVAILABLE when the file cannot be written.
absl::Status TakeScreenshot(const CommandLine& line);

}  // namespace nanolane::desktop
