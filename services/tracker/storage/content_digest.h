#pragma once

#include <openssl/sha.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace callslip::tracker {

// A SHA-256 of an ordered sequence of pieces. Compares two copies that are too long to hold both in
// memory.
class ContentDigest {
 public:
  void Add(absl::string_view piece) {
    // The length separates the pieces.
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
