#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace callslip::tracker {

// The name under which the damaged file at `path` is set aside: `path`.damaged, or the first free
// one of `path`.damaged-2, -3 and so on. The number of such files is limited; the last one is
// replaced. Passes on an error of `is_there`.
inline absl::StatusOr<std::string> AsideName(
    const std::string& path,
    absl::FunctionRef<absl::StatusOr<bool>(const std::string& path)> is_there) {
  constexpr int kMaxKept = 20;
  std::string name = path + ".damaged";
  for (int i = 2; i <= kMaxKept; ++i) {
    ASSIGN_OR_RETURN(const bool taken, is_there(name));
    if (!taken) break;
    name = absl::StrCat(path, ".damaged-", i);
  }
  return name;
}

}  // namespace callslip::tracker
