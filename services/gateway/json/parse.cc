#include "gateway/json/parse.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
// All of Boost.JSON, compiled here because only this file needs it: its parser takes a fifth of the
// time of nlohmann's. Values are nlohmann's nevertheless.
#include "boost/json/basic_parser_impl.hpp"
#include "boost/json/src.hpp"
#include "common/error_details.h"
#include "common/text_scan.h"

namespace callslip::gateway {
namespace {

namespace json = boost::json;

absl::Status Malformed(absl::string_view problem) {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument,
                          absl::StrCat("This is not valid JSON: ", problem),
                          {.reason = "malformed_json", .hint = "Send one JSON value in UTF-8."});
}

absl::Status DuplicateKey(absl::string_view key) {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument,
                          absl::StrCat("The key \"", key, "\" occurs twice in one object."),
                          {.reason = "duplicate_key", .hint = "Send each key once."});
}

absl::Status TooManyValues() {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("There are more than ", kMaxJsonValues, " values in this JSON."),
      {.reason = "too_many_values", .hint = "Send less, or the bulk of it as text."});
}

// Builds the value from the parser's callbacks, and refuses duplicate keys. The parser fixes the
// names of the functions.
class Builder {
 public:
  using Error = boost::system::error_code;
  using Text = json::string_view;

  Builder() { open_.reserve(8); }  // Deeper than most.

  // Not needed: the size of bodies is limited on receipt.
  static constexpr size_t max_object_size = SIZE_MAX;
  static constexpr size_t max_array_size = SIZE_MAX;
  static constexpr size_t max_key_size = SIZE_MAX;
  static constexpr size_t max_string_size = SIZE_MAX;

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }

  bool on_object_begin(Error& error) { return Open(Json::value_t::object, error); }
  bool on_object_end(size_t, Error&) { return Close(); }
  bool on_array_begin(Error& error) { return Open(Json::value_t::array, error); }
  bool on_array_end(size_t, Error&) { return Close(); }

  bool on_key_part(Text part, size_t, Error&) { return AddPart(part); }
  bool on_key(Text rest, size_t, Error& error) {
    AddPart(rest);
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto [member, is_new] = members.try_emplace(std::move(text_));
    text_.clear();
    member_ = &member->second;
    if (is_new) return true;
    status_ = DuplicateKey(member->first);
    error = json::error::syntax;
    return false;
  }
  bool on_string_part(Text part, size_t, Error&) { return AddPart(part); }
  bool on_string(Text rest, size_t, Error& error) {
    AddPart(rest);
    const bool added = Add(std::move(text_), error);
    text_.clear();
    return added;
  }

  bool on_number_part(Text part, Error&) { return AddPart(part); }
  bool on_int64(int64_t value, Text, Error& error) { return AddInteger(value, error); }
  bool on_uint64(uint64_t value, Text, Error& error) { return AddNumber(value, error); }
  bool on_double(double, Text rest, Error& error) {
    // The parser's value may be off in its last bit.
    AddPart(rest);
    double value = 0;
    const bool valid = absl::SimpleAtod(text_, &value) && std::isfinite(value);
    if (!valid) error = json::error::exponent_overflow;
    if (const auto integer = IntegerIn(value)) return valid && AddInteger(*integer, error);
    return valid && AddNumber(value, error);
  }
  bool on_bool(bool value, Error& error) { return Add(value, error); }
  bool on_null(Error& error) { return Add(nullptr, error); }

  bool on_comment_part(Text, Error&) { return false; }
  bool on_comment(Text, Error&) { return false; }

  // The error if the builder itself refused the text.
  const absl::Status& status() const { return status_; }
  Json Take() && { return std::move(root_); }

 private:
  bool AddPart(Text part) {
    text_.append(part.data(), part.size());
    return true;
  }

  // Stores a value at the current position.
  template <typename Value>
  Json* Place(Value&& value) {
    if (!open_.empty() && open_.back()->is_array()) {
      auto& elements = open_.back()->get_ref<Json::array_t&>();
      return &elements.emplace_back(std::forward<Value>(value));
    }
    Json* const place = open_.empty() ? &root_ : member_;
    Json(std::forward<Value>(value)).swap(*place);
    return place;
  }

  template <typename Value>
  bool Add(Value&& value, Error& error) {
    if (!Count(error)) return false;
    Place(std::forward<Value>(value));
    return true;
  }

  template <typename Number>
  bool AddNumber(Number value, Error& error) {
    text_.clear();
    return Add(value, error);
  }

  bool AddInteger(int64_t value, Error& error) {
    // The same types as nlohmann's own parser.
    return value < 0 ? AddNumber(value, error) : AddNumber(static_cast<uint64_t>(value), error);
  }

  bool Open(Json::value_t container, Error& error) {
    if (!Count(error)) return false;
    open_.push_back(Place(container));
    return true;
  }

  bool Count(Error& error) {
    if (++values_ <= kMaxJsonValues) return true;
    status_ = TooManyValues();
    error = json::error::syntax;
    return false;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  // The containers around the current position. Each is the last child of the one before it, so
  // none of these pointers becomes invalid while it is in here.
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // Of the last key.
  int values_ = 0;
  std::string text_;  // Of an incomplete key, string or number.
  absl::Status status_;
};

// The first position from `at` on whose character must be escaped; the size if there is none.
size_t FindNotPlain(const std::string& text, size_t at) {
  return SkipPlainJson(text.data() + at, text.data() + text.size()) - text.data();
}

void AppendText(const std::string& text, std::string& out) {
  size_t plain = 0;  // The start of the text not appended yet.
  const size_t start = out.size();
  out.push_back('"');
  for (size_t i = FindNotPlain(text, 0); i < text.size(); i = FindNotPlain(text, plain)) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      // May be invalid UTF-8, which nlohmann checks and replaces.
      out.resize(start);
      std::string dumped = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
      EscapeLineSeparators(dumped);
      out += dumped;
      return;
    }
    out.append(text, plain, i - plain);
    plain = i + 1;
    constexpr absl::string_view kEscaped = "\"\\\b\f\n\r\t";
    constexpr absl::string_view kEscapes = "\"\\bfnrt";
    if (const size_t at = kEscaped.find(text[i]); at != absl::string_view::npos) {
      out.push_back('\\');
      out.push_back(kEscapes[at]);
    } else {
      absl::StrAppendFormat(&out, "\\u%04x", c);
    }
  }
  out.append(text, plain);
  out.push_back('"');
}

void Append(const Json& json, std::string& out) {
  const char* separator = "";
  switch (json.type()) {
    case Json::value_t::object:
      out.push_back('{');
      for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
        out += std::exchange(separator, ",");
        AppendText(name, out);
        out.push_back(':');
        Append(value, out);
      }
      out.push_back('}');
      return;
    case Json::value_t::array:
      out.push_back('[');
      for (const Json& value : json) {
        out += std::exchange(separator, ",");
        Append(value, out);
      }
      out.push_back(']');
      return;
    case Json::value_t::string: return AppendText(json.get_ref<const std::string&>(), out);
    case Json::value_t::boolean: out += json.get<bool>() ? "true" : "false"; return;
    case Json::value_t::number_integer: return absl::StrAppend(&out, json.get<int64_t>());
    case Json::value_t::number_unsigned: return absl::StrAppend(&out, json.get<uint64_t>());
    default: out += json.dump();
  }
}

}  // namespace

absl::StatusOr<Json> ParseJson(const std::string& given) {
  std::string mended;
  const absl::string_view text = MendJson(given, mended);
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::basic_parser<Builder> parser(options);
  boost::system::error_code error;
  const size_t taken = parser.write_some(/*more=*/false, text.data(), text.size(), error);
  if (!parser.handler().status().ok()) return parser.handler().status();
  if (error == json::error::too_deep) {
    return Malformed(absl::StrCat("it nests deeper than ", kMaxJsonDepth, " levels."));
  }
  if (error || taken < text.size()) {
    return Malformed(absl::StrCat("the error is at byte ", taken + 1, "."));
  }
  return std::move(parser.handler()).Take();
}

Json JsonOrText(const std::string& bytes) {
  absl::StatusOr<Json> value = ParseJson(bytes);
  if (!value.ok()) return bytes;
  return *std::move(value);
}

std::string Dump(const Json& json) {
  std::string text;
  text.reserve(256);  // Enough for most values, instead of growing five times.
  Append(json, text);
  return text;
}

void AppendDump(const Json& json, std::string& text) { Append(json, text); }

}  // namespace callslip::gateway
