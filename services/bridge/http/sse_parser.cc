#include "bridge/http/sse_parser.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace callslip::bridge {

SseParser::Result SseParser::Feed(absl::string_view bytes,
                                  const std::function<bool(absl::string_view)>& on_data) {
  while (!bytes.empty()) {
    // CR LF is one line ending, even if the two arrive separately.
    if (after_cr_) {
      after_cr_ = false;
      if (absl::ConsumePrefix(&bytes, "\n")) continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    const absl::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() + data_.size() > max_bytes_) return Result::kTooLarge;
    absl::StrAppend(&line_, part);
    if (end == absl::string_view::npos) return Result::kMore;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!TakeLine(on_data)) return Result::kDone;
    line_.clear();
  }
  return Result::kMore;
}

bool SseParser::TakeLine(const std::function<bool(absl::string_view)>& on_data) {
  if (line_.empty()) {
    if (!has_data_) return true;
    const std::string data = std::move(data_);
    data_.clear();
    has_data_ = false;
    return data.empty() || on_data(data);
  }
  absl::string_view field = line_;
  if (field != "data" && !absl::ConsumePrefix(&field, "data:")) return true;
  if (field == "data") field = "";
  absl::ConsumePrefix(&field, " ");
  if (has_data_) data_.push_back('\n');
  absl::StrAppend(&data_, field);
  has_data_ = true;
  return true;
}

}  // namespace callslip::bridge
