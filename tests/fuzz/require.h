#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// Fails the fuzzer by an abort. `where` is the text for which `what` does not hold.
inline void Require(bool holds, const char* what, absl::string_view where = "") {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s: %s\n", what, std::string(where).c_str());
  std::abort();
}

}  // namespace callslip
