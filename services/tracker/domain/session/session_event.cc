#include "tracker/domain/session/session_event.h"

#include "absl/hash/hash.h"

namespace callslip::tracker {

size_t ContentOf(const std::string& message, const std::vector<std::string>& image_ids) {
  return absl::HashOf(message, image_ids);
}

}  // namespace callslip::tracker
