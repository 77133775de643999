#include "bridge/relay/skipped_line.h"

#include "absl/strings/ascii.h"
#include "bridge/json/json_rpc.h"
#include "common/json_scan.h"

namespace callslip::bridge {
namespace {

// Agents' ids have some ten bytes; the names that matter here have fewer.
constexpr size_t kMaxKept = 1024;

}  // namespace

void SkippedLine::Add(absl::string_view bytes) {
  for (const char c : bytes) {
    if (in_string_) {
      if (depth_ == 1) Keep(c);
      if (!escaped_ && c == '"') in_string_ = false;
      escaped_ = !escaped_ && c == '\\';
      continue;
    }
    if (c == '"') in_string_ = true;
    if (c == '}' || c == ']') --depth_;
    if (depth_ == 1) AddPunctuation(c);
    if (depth_ == 0 && c == '}') EndMember();
    if (c == '{' || c == '[') ++depth_;
  }
}

void SkippedLine::AddPunctuation(char c) {
  if (c == ',') {
    EndMember();
  } else if (c == ':' && !in_value_) {
    in_value_ = true;
  } else {
    Keep(c);
  }
}

void SkippedLine::Keep(char c) {
  std::string& part = in_value_ ? value_ : name_;
  if (part.size() < kMaxKept) {
    part.push_back(c);
  } else {
    is_too_long_ = true;
  }
}

void SkippedLine::EndMember() {
  absl::StripAsciiWhitespace(&name_);
  absl::StripAsciiWhitespace(&value_);
  if (StandsFor(name_, "method")) has_method_ = true;
  if (StandsFor(name_, "id")) {
    ++ids_;
    const bool is_id = !is_too_long_ && ScanJson(value_).error.empty() && !IdKey(value_).empty();
    id_ = is_id ? value_ : "";
  }
  name_.clear();
  value_.clear();
  in_value_ = false;
  is_too_long_ = false;
}

std::string SkippedLine::RequestId() const { return has_method_ && ids_ == 1 ? id_ : ""; }

}  // namespace callslip::bridge
