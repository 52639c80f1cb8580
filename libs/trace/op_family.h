// Op families and short names: the one table that turns a kernel's name into what a person calls
// it. Used by colours, filters, statistics and patterns alike.
#pragma once

#include <string>
#include <string_view>

#include "libs/trace/kinds.h"

namespace nanolane::trace {

// The family of a kernel (or annotation) by its name; kOther when nothing in the table fits.
// Case-insensitive; the first matching row wins. Linear in the name's length.
OpFamily FamilyOf(std::string_view kernel_name);

// What fits on a span: without return type, template arguments, parameters and namespaces, keeping
// the functor that tells elementwise kernels apart:
// "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, …>(…)"
//   → "vectorized_elementwise_kernel<CUDAFunctor_add>".
// Accepts any bytes; unbalanced brackets end the name.
std::string ShortName(std::string_view kernel_name);

}  // namespace nanolane::trace
