// OpenGL 3.3 core, as libOpenGL exports it: the calls go to whichever context is current, GLX's or
// EGL's.
#pragma once

#define GL_GLEXT_PROTOTYPES 1
#include <GL/glcorearb.h>
