#ifndef CALLSLIP_TRACKER_STORAGE_CONTENT_DIGEST_H_
#define CALLSLIP_TRACKER_STORAGE_CONTENT_DIGEST_H_

#include <openssl/sha.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace callslip::tracker {

// A SHA-256 of pieces in their order, by which two copies are compared that are too long to be held
// beside each other.
class ContentDigest {
 public:
  void Add(absl::string_view piece) {
    // The length keeps two pieces from being taken for one.
    const std::string next = absl::StrCat(value_, piece.size(), ":", piece);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(next.data()), next.size(), digest);
    value_.assign(reinterpret_cast<const char*>(digest), sizeof(digest));
  }

  const std::string& value() const { return value_; }

 private:
  std::string value_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_CONTENT_DIGEST_H_
