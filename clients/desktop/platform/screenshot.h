// A picture of a session without a person and without a display: loads everything, draws one
// settled frame, writes a PNG.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "clients/desktop/model/catalog_facts.h"
#include "clients/desktop/model/input.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/platform/command_line.h"
#include "clients/desktop/render/frame_image.h"

namespace nanolane::desktop {

// What somebody does before a frame: the frames of a picture are counted from 0.
using FrameHand = std::function<void(int frame, Viewer& viewer, Input& input)>;
inline constexpr int kPictureFrames = 4;

// What a picture is drawn from. `show` is told what of the lanes was in sight after each frame;
// true: there is more to draw now.
struct PictureSource {
  std::function<Loaded()> loaded;
  std::function<bool(const LanesInSight&)> show = [](const LanesInSight&) { return false; };
  FrameHand hand = {};
};

// What the scope's chips and the strip are drawn from; nothing: from the session alone.
struct ScopeAnswers {
  std::shared_ptr<const CatalogSnapshot> catalog;
  std::shared_ptr<const DensityAnswer> density;
  // Answers the question that the picture itself gives rise to; null: nobody is asked.
  std::function<std::shared_ptr<const DensityAnswer>(const DensityQuestion&)> ask;
  int64_t unix_ns = 0;
};

// Draws frames until nothing more comes. Needs a current context.
absl::StatusOr<Image> DrawFrame(const PictureSource& source, const CommandLine& line,
                                ScopeAnswers answers = {});
// What is `loaded`, after what `hand` has done with it.
absl::StatusOr<Image> DrawFrame(const Loaded& loaded, const CommandLine& line,
                                const FrameHand& hand = {});

// Everything, from the connection to the file. Errors: the loader's; NOT_FOUND when the range holds
// no event; UNAVAILABLE when the file cannot be written.
absl::Status TakeScreenshot(const CommandLine& line);

}  // namespace nanolane::desktop
