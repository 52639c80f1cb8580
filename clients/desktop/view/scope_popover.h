// The list of an open scope picker, under its chip: a field to narrow it by, the choices with what
// each of them has, and what the keys do. UI thread only.
#pragma once

#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/ui_context.h"

namespace nanolane::desktop {

// Opens, closes and draws the pickers of `desk` for one frame. While one is open it has the mouse
// and the keyboard.
void ShowScopePopover(const UiContext& context, const Theme& theme, const Viewer& viewer,
                      const ScopeChips& chips, const Pointer& pointer, ScopeDesk& desk);

}  // namespace nanolane::desktop
