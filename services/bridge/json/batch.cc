#include "bridge/json/batch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/text_scan.h"

namespace callslip::bridge {
namespace {

class Splitter {
 public:
  explicit Splitter(absl::string_view array) : array_(array) {}

  Batch Run() {
    for (size_t at = 0; at < array_.size() && Count() <= kMaxBatch; ++at) {
      const char c = array_[at];
      if (c == '"') {
        at = LastOfString(at);
      } else if (c == '{' || c == '[') {
        open_ += c == '{' ? '}' : ']';
      } else if (c == '}' || c == ']') {
        Close(c, at);
      } else if (c == ',') {
        Separate(at);
      }
    }
    if (!open_.empty()) {
      is_clear_ = false;
      Cut(array_.size());
    }
    return std::move(batch_);
  }

 private:
  size_t Count() const { return batch_.messages.size() + batch_.unclear.size(); }

  // The position of the closing quote, or of the last character.
  size_t LastOfString(size_t at) const {
    for (++at; at < array_.size() && array_[at] != '"'; ++at) {
      if (array_[at] == '\\') ++at;
    }
    return std::min(at, array_.size() - 1);
  }

  void Close(char c, size_t at) {
    const size_t opened = open_.rfind(c);
    // Only the last bracket of the line closes the batch itself.
    const bool is_surplus = opened == open_.npos || (opened == 0 && at + 1 != array_.size());
    if (is_surplus || opened + 1 != open_.size()) is_clear_ = false;
    if (is_surplus) return;
    if (opened == 0) Cut(at);
    open_.resize(opened);
  }

  void Separate(size_t at) {
    // In an object, a name follows a comma: before an object, the message lacks its end.
    const absl::string_view rest = absl::StripLeadingAsciiWhitespace(array_.substr(at + 1));
    const bool lacks_end = open_.back() == '}' && absl::StartsWith(rest, "{");
    if (lacks_end) {
      is_clear_ = false;
      open_.resize(1);
    }
    if (open_.size() == 1) Cut(at);
  }

  // The message before `end` is complete.
  void Cut(size_t end) {
    (is_clear_ ? batch_.messages : batch_.unclear)
        .emplace_back(absl::StripAsciiWhitespace(array_.substr(begin_, end - begin_)));
    begin_ = end + 1;
  }

  const absl::string_view array_;
  Batch batch_;
  std::string open_;      // The closing brackets of what is open, the outermost first.
  bool is_clear_ = true;  // Until brackets do not match.
  size_t begin_ = 1;      // Of the message.
};

}  // namespace

std::optional<Batch> BatchIn(absl::string_view line) {
  std::string mended;
  const absl::string_view array = absl::StripAsciiWhitespace(MendJson(line, mended));
  if (!absl::StartsWith(array, "[")) return std::nullopt;
  Batch batch = Splitter(array).Run();
  const size_t count = batch.messages.size() + batch.unclear.size();
  if (count > kMaxBatch) return std::nullopt;
  if (count == 1 && batch.unclear.empty() && batch.messages[0].empty()) return std::nullopt;
  return batch;
}

}  // namespace callslip::bridge
