#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "tracker/domain/session/session_event.h"

namespace callslip::tracker {

// An image of a session's messages, with its bytes.
struct Image {
  ImageRef ref;
  std::string data;
};

// The type by the first bytes, such as "image/png": PNG, JPEG, GIF or WebP. Empty for anything
// else.
absl::string_view ImageTypeOf(absl::string_view data);

// Whether it is a valid image id: "img-" and 16 hexadecimal digits. Check this before an id touches
// a path.
bool IsImageId(absl::string_view id);

}  // namespace callslip::tracker
