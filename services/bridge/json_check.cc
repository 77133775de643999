#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>  // The library itself, here and nowhere else.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bridge/json_scan.h"
#include "bridge/limits.h"

namespace callslip::bridge {
namespace {

// Takes all that the parser finds, and keeps nothing.
struct Anything {
  using Error = boost::json::error_code;
  using Text = boost::json::string_view;

  static constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();
  static constexpr size_t max_object_size = kUnbounded;
  static constexpr size_t max_array_size = kUnbounded;
  static constexpr size_t max_key_size = kUnbounded;
  static constexpr size_t max_string_size = kUnbounded;

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) { return true; }
  bool on_object_end(size_t, Error&) { return true; }
  bool on_array_begin(Error&) { return true; }
  bool on_array_end(size_t, Error&) { return true; }
  bool on_key_part(Text, size_t, Error&) { return true; }
  bool on_key(Text, size_t, Error&) { return true; }
  bool on_string_part(Text, size_t, Error&) { return true; }
  bool on_string(Text, size_t, Error&) { return true; }
  bool on_number_part(Text, Error&) { return true; }
  bool on_int64(int64_t, Text, Error&) { return true; }
  bool on_uint64(uint64_t, Text, Error&) { return true; }
  bool on_double(double, Text, Error&) { return true; }
  bool on_bool(bool, Error&) { return true; }
  bool on_null(Error&) { return true; }
  bool on_comment_part(Text, Error&) { return true; }
  bool on_comment(Text, Error&) { return true; }
};

}  // namespace

absl::Status CheckJson(absl::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::json::basic_parser<Anything> parser(options);
  boost::json::error_code error;
  const size_t used = parser.write_some(/*more=*/false, text.data(), text.size(), error);
  if (error == boost::json::error::too_deep) {
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON nests more than ", kMaxJsonDepth, " levels deep"));
  }
  if (error || used < text.size()) {
    return absl::InvalidArgumentError("the text is no valid JSON in UTF-8");
  }
  return absl::OkStatus();
}

}  // namespace callslip::bridge
