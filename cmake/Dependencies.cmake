# Third-party libraries, all from Debian 12's packages (tools/setup installs them).
# Debian ships no protobuf config, so protobuf is found in module mode before gRPC's config.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Catch2 2 CONFIG REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${Catch2_DIR})
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

if(NOT NANOLANE_LIBS_ONLY)
  find_package(ZLIB REQUIRED)
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
  find_package(RocksDB CONFIG REQUIRED)
  pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
  find_package(nlohmann_json CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(RapidJSON CONFIG QUIET)
endif()
