#ifndef CALLSLIP_AUTH_SAME_SECRET_H_
#define CALLSLIP_AUTH_SAME_SECRET_H_

#include "absl/strings/string_view.h"

namespace callslip {

// Whether both are the same. Takes as long wherever they differ, so that nobody finds out a
// signature byte by byte; its length is no secret.
bool IsSameSecret(absl::string_view one, absl::string_view other);

}  // namespace callslip

#endif  // CALLSLIP_AUTH_SAME_SECRET_H_
