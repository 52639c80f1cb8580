#include "clients/desktop/model/name_search.h"

#include <catch2/catch.hpp>

namespace nanolane::desktop {

TEST_CASE("a pattern matches anywhere in the full name, in either case") {
  NameTable names;
  const NameId gemm = names.Intern("void cutlass::SGEMM_128<float>(float*)");
  const NameId norm = names.Intern("layer_norm");
  NameSearch search;
  search.SetPattern("sgemm_\\d+");
  search.Update(names);
  CHECK(search.Matches(gemm));
  CHECK_FALSE(search.Matches(norm));
  CHECK_FALSE(search.Matches(0));
  CHECK(search.matching_names() == 1);
}

TEST_CASE("names that come later are matched as well") {
  NameTable names;
  NameSearch search;
  search.SetPattern("norm");
  search.Update(names);
  const NameId norm = names.Intern("layer_norm");
  search.Update(names);
  CHECK(search.Matches(norm));
}

TEST_CASE("a pattern that does not parse says so and matches nothing") {
  NameTable names;
  const NameId name = names.Intern("a(b");
  NameSearch search;
  search.SetPattern("a(b");
  search.Update(names);
  CHECK_FALSE(search.error().empty());
  CHECK(search.active());
  CHECK_FALSE(search.Matches(name));
  search.SetPattern("");
  CHECK_FALSE(search.active());
}

TEST_CASE("equal names of different epochs are one name") {
  NameTable names;
  const NameId first = names.Intern("void a::b<int>(int)");
  CHECK(names.Intern("void a::b<int>(int)") == first);
  CHECK(names.Full(first) == "void a::b<int>(int)");
  CHECK_FALSE(names.Short(first).empty());
}

}  // namespace nanolane::desktop
