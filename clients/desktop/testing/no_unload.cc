// Linked into tests that use OpenGL, for the leak sanitizer: Mesa's drivers keep memory until the
// process ends, and their stacks can be told from ours only while the drivers stay loaded.

extern "C" int dlclose(void* /*handle*/) noexcept { return 0; }

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that the sanitizer looks for
extern "C" const char* __lsan_default_suppressions() {
  return "leak:swrast_dri.so\n"
         "leak:libLLVM\n"
         "leak:libgallium\n"
         "leak:libGLX_mesa.so\n"
         "leak:libEGL_mesa.so\n"
         "leak:libglapi.so\n"
         "leak:libGLdispatch.so\n"
         "leak:libX11.so\n"
         "leak:libxcb.so\n"
         "leak:libdbus-1.so\n";
}
