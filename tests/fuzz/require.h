#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// A fuzzer takes an end of the process for a finding. `where` is what `what` does not hold of.
inline void Require(bool holds, const char* what, absl::string_view where = "") {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s: %s\n", what, std::string(where).c_str());
  std::abort();
}

}  // namespace callslip
