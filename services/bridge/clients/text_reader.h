#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace callslip::bridge {

// Some editors begin a file with it.
inline constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

// A position in a text that is read forward. A function that expects some text returns false if it
// is missing; status() then names the problem and its line.
class TextReader {
 public:
  TextReader(absl::string_view text, size_t at) : text_(text), at_(at) {}
  explicit TextReader(absl::string_view text)
      : TextReader(text, absl::StartsWith(text, kByteOrderMark) ? kByteOrderMark.size() : 0) {}

  bool AtEnd() const { return at_ == text_.size(); }
  bool Sees(absl::string_view what) const { return absl::StartsWith(text_.substr(at_), what); }
  absl::Status status() const { return status_; }

 protected:
  bool Fail(absl::string_view what) {
    if (!status_.ok()) return false;
    const auto line = std::count(text_.begin(), text_.begin() + at_, '\n') + 1;
    status_ = absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
    return false;
  }

  bool Take(absl::string_view wanted) {
    if (!Sees(wanted)) return Fail(absl::StrCat("`", wanted, "` is missing"));
    at_ += wanted.size();
    return true;
  }

  void SkipToLineEnd() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  const absl::string_view text_;
  size_t at_;

 private:
  absl::Status status_;
};

}  // namespace callslip::bridge
