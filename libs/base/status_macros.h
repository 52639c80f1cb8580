// RETURN_IF_ERROR and ASSIGN_OR_RETURN: the only two control-flow macros of the project.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETURN_IF_ERROR(expr)                                 \
  do {                                                        \
    if (::absl::Status nl_status = (expr); !nl_status.ok()) { \
      return nl_status;                                       \
    }                                                         \
  } while (false)

#define NL_CONCAT_INNER(a, b) a##b
#define NL_CONCAT(a, b) NL_CONCAT_INNER(a, b)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL(NL_CONCAT(nl_statusor_, __LINE__), lhs, expr)

#define ASSIGN_OR_RETURN_IMPL(statusor, lhs, expr) \
  auto statusor = (expr);                          \
  if (!statusor.ok()) {                            \
    return std::move(statusor).status();           \
  }                                                \
  lhs = *std::move(statusor)
