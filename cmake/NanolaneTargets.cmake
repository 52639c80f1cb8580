# Build rules that every folder shares: one standard, one set of warnings, one place for binaries,
# and test registration by label.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# FORCE, because project() has put empty flags of the build type into the cache.
set(CMAKE_CXX_FLAGS_DEV "-O2 -g1" CACHE STRING "Optimized, assertions on" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG" CACHE STRING "Optimized, assertions off" FORCE)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

if(NANOLANE_SANITIZE)
  add_compile_options(-fsanitize=${NANOLANE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NANOLANE_SANITIZE})
endif()

# Flags of our own code; generated code and third-party headers do not get them.
add_library(nanolane_flags INTERFACE)
target_compile_options(nanolane_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-missing-field-initializers
  -Werror=return-type -Werror=unused-result)
target_include_directories(nanolane_flags INTERFACE ${PROJECT_SOURCE_DIR})

# nanolane_library(NAME SOURCES... DEPS...)
function(nanolane_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE nanolane_flags)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# nanolane_binary(NAME SOURCES... DEPS...)
function(nanolane_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} nanolane_flags)
endfunction()

# nanolane_test(NAME LABEL unit|integration|ui|gpu SOURCES... DEPS...): one Catch2 binary whose
# cases are registered with ctest under the label. The target nanolane_tests_LABEL builds all of one
# label. A case that cannot run here prints a line with "SKIPPED:" and why.
function(nanolane_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} nanolane_flags Catch2::Catch2WithMain)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(NOT TARGET nanolane_tests_${ARG_LABEL})
    add_custom_target(nanolane_tests_${ARG_LABEL})
  endif()
  add_dependencies(nanolane_tests_${ARG_LABEL} ${name})
  catch_discover_tests(${name}
    TEST_PREFIX "${name}: "
    PROPERTIES LABELS ${ARG_LABEL} SKIP_REGULAR_EXPRESSION "SKIPPED:")
endfunction()
