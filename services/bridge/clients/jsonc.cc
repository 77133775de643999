#include "bridge/clients/jsonc.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bridge/clients/text_reader.h"
#include "common/json_string.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

class Reader : public TextReader {
 public:
  using TextReader::TextReader;

  // Skips space and comments; records line breaks outside of comments in `object`.
  bool SkipSpace(JsoncObject* object = nullptr);
  // Appends the value to `plain`.
  bool TakeValue(std::string& plain, int depth);
  bool TakeObject(JsoncObject& object, std::string& plain, int depth);

 private:
  bool TakeArray(std::string& plain, int depth);
  bool TakeString(std::string& decoded);
  // A number, true, false or null.
  bool TakeWord(std::string& plain);
};

bool Reader::SkipSpace(JsoncObject* object) {
  while (!AtEnd()) {
    if (Sees("//")) {
      SkipToLineEnd();
    } else if (Sees("/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == absl::string_view::npos) return Fail("a comment does not end");
      at_ = end + 2;
    } else if (absl::StrContains(" \t\r\n", text_[at_])) {
      if (text_[at_] == '\n' && object != nullptr) {
        // A carriage return belongs to the line break.
        const size_t line_end = at_ > 0 && text_[at_ - 1] == '\r' ? at_ - 1 : at_;
        if (object->first_break == absl::string_view::npos) object->first_break = line_end;
        object->last_break = line_end;
      }
      ++at_;
    } else {
      break;
    }
  }
  return true;
}

bool Reader::TakeString(std::string& decoded) {
  if (!Sees("\"")) return Fail("a string is missing");
  const char* end = SkipJsonString(text_.data() + at_ + 1, text_.data() + text_.size());
  if (end == nullptr) return Fail("a string is not valid");
  const size_t end_at = end - text_.data();
  std::optional<std::string> value = DecodeJsonString(text_.substr(at_, end_at - at_));
  if (!value) return Fail("a string is not valid");
  decoded = *std::move(value);
  at_ = end_at;
  return true;
}

bool Reader::TakeWord(std::string& plain) {
  const size_t begin = at_;
  while (!AtEnd() && (absl::ascii_isalnum(text_[at_]) || absl::StrContains("+-.", text_[at_]))) {
    ++at_;
  }
  const absl::string_view word = text_.substr(begin, at_ - begin);
  const bool is_number = !word.empty() && (absl::ascii_isdigit(word[0]) || word[0] == '-');
  if (!is_number && word != "true" && word != "false" && word != "null") {
    at_ = begin;
    return Fail("a value is missing or invalid");
  }
  absl::StrAppend(&plain, word);
  return true;
}

bool Reader::TakeArray(std::string& plain, int depth) {
  if (!Take("[") || !SkipSpace()) return false;
  plain += '[';
  for (bool is_first = true; !Sees("]"); is_first = false) {
    if (!is_first) plain += ',';
    if (!TakeValue(plain, depth) || !SkipSpace()) return false;
    if (Sees("]")) break;
    if (!Take(",") || !SkipSpace()) return false;
  }
  plain += ']';
  return Take("]");
}

bool Reader::TakeObject(JsoncObject& object, std::string& plain, int depth) {
  object = {.at = at_};
  if (!Take("{")) return false;
  plain += '{';
  object.content_end = at_;
  if (!SkipSpace(&object)) return false;
  while (!Sees("}")) {
    JsoncMember member = {.key_at = at_};
    if (!TakeString(member.key) || !SkipSpace() || !Take(":") || !SkipSpace()) return false;
    member.value_at = at_;
    if (!TakeValue(member.value, depth)) return false;
    member.value_end = at_;
    absl::StrAppend(&plain, object.members.empty() ? "" : ",", QuoteJson(member.key), ":",
                    member.value);
    object.members.push_back(std::move(member));
    object.content_end = at_;
    object.first_break = object.last_break = absl::string_view::npos;
    if (!SkipSpace(&object)) return false;
    object.has_last_comma = Sees(",");
    if (!object.has_last_comma) break;
    ++at_;
    object.content_end = at_;
    object.first_break = object.last_break = absl::string_view::npos;
    if (!SkipSpace(&object)) return false;
  }
  plain += '}';
  if (!Take("}")) return false;
  object.end = at_;
  return true;
}

bool Reader::TakeValue(std::string& plain, int depth) {
  if (depth == kMaxJsoncDepth) return Fail("it nests too deep");
  if (Sees("[")) return TakeArray(plain, depth + 1);
  if (Sees("{")) {
    JsoncObject inner;
    return TakeObject(inner, plain, depth + 1);
  }
  if (!Sees("\"")) return TakeWord(plain);
  std::string decoded;
  if (!TakeString(decoded)) return false;
  plain += QuoteJson(decoded);
  return true;
}

}  // namespace

std::string QuoteJson(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (absl::ascii_iscntrl(c)) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

absl::StatusOr<JsoncObject> ReadJsonc(absl::string_view text) {
  Reader reader(text);
  JsoncObject object;
  std::string plain;
  if (reader.SkipSpace() && reader.TakeObject(object, plain, /*depth=*/0)) reader.SkipSpace();
  RETURN_IF_ERROR(reader.status());
  if (!reader.AtEnd()) {
    return absl::InvalidArgumentError("more follows behind the object that should be all");
  }
  return object;
}

absl::StatusOr<JsoncObject> ReadJsoncObject(absl::string_view text, size_t at) {
  Reader reader(text, at);
  if (!reader.Sees("{")) return absl::FailedPreconditionError("it is not an object");
  JsoncObject object;
  std::string plain;
  reader.TakeObject(object, plain, /*depth=*/0);
  RETURN_IF_ERROR(reader.status());
  return object;
}

}  // namespace callslip::bridge
