# Headers of CUDA and CUPTI, which the injection library alone needs (it loads the libraries
# themselves with dlopen): from an installed toolkit, else from what tools/setup fetched.
#
# Sets NANOLANE_HAVE_CUPTI and, when it is true, defines the interface target nanolane_cupti_headers;
# NANOLANE_HAVE_NVTX and nanolane_nvtx_headers likewise.

find_path(NANOLANE_CUPTI_INCLUDE_DIR cupti.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda ${PROJECT_SOURCE_DIR}/.cache/cuda
  PATH_SUFFIXES extras/CUPTI/include include
  DOC "Folder of cupti.h")
# The toolkit keeps cuda.h elsewhere than cupti.h.
find_path(NANOLANE_CUDA_INCLUDE_DIR cuda.h
  HINTS ${NANOLANE_CUPTI_INCLUDE_DIR} ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda ${PROJECT_SOURCE_DIR}/.cache/cuda
  PATH_SUFFIXES include
  DOC "Folder of cuda.h")
find_path(NANOLANE_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS ${NANOLANE_CUDA_INCLUDE_DIR}
  PATHS /usr/local/cuda ${PROJECT_SOURCE_DIR}/.cache/cuda
  PATH_SUFFIXES include
  DOC "Folder of nvtx3/nvToolsExt.h")
mark_as_advanced(
  NANOLANE_CUPTI_INCLUDE_DIR NANOLANE_CUDA_INCLUDE_DIR NANOLANE_NVTX_INCLUDE_DIR)

if(NANOLANE_CUPTI_INCLUDE_DIR AND NANOLANE_CUDA_INCLUDE_DIR)
  set(NANOLANE_HAVE_CUPTI ON)
  add_library(nanolane_cupti_headers INTERFACE)
  target_include_directories(nanolane_cupti_headers SYSTEM INTERFACE
    ${NANOLANE_CUPTI_INCLUDE_DIR} ${NANOLANE_CUDA_INCLUDE_DIR})
  message(STATUS "CUPTI headers: ${NANOLANE_CUPTI_INCLUDE_DIR}")
else()
  set(NANOLANE_HAVE_CUPTI OFF)
  message(STATUS "CUPTI headers: none; the injection library is left out, everything else builds "
    "(tools/setup fetches them)")
endif()

if(NANOLANE_NVTX_INCLUDE_DIR)
  set(NANOLANE_HAVE_NVTX ON)
  add_library(nanolane_nvtx_headers INTERFACE)
  target_include_directories(nanolane_nvtx_headers SYSTEM INTERFACE ${NANOLANE_NVTX_INCLUDE_DIR})
  target_link_libraries(nanolane_nvtx_headers INTERFACE ${CMAKE_DL_LIBS})
else()
  set(NANOLANE_HAVE_NVTX OFF)
endif()
