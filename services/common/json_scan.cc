#include "common/json_scan.h"

#include <array>
#include <cmath>
#include <forward_list>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/json_string.h"

namespace callslip {

bool StandsFor(absl::string_view value, absl::string_view text) {
  if (!IsJsonString(value)) return false;
  const absl::string_view written = value.substr(1, value.size() - 2);
  // An encoded text is never shorter than its decoded form, and longer only because of escapes.
  if (written.size() <= text.size()) return written == text;
  return *absl::c_mismatch(written, text).first == '\\' && DecodeJsonString(value) == text;
}

namespace {

// The text's object, the member that is looked into, and the objects in it.
constexpr int kMaxKeptDepth = 3;

constexpr absl::string_view kInvalid = "the text is not valid JSON in UTF-8";
constexpr absl::string_view kTooDeep = "the JSON is nested too deeply";

bool IsSpace(char c) {
  return c <= ' ' && (c == ' ' || c == '\t' || c == '\n' || c == '\r');  // Usually false at once.
}

const JsonMember* NextMember(const JsonMember* member) { return member + 1 + member->inner; }

const JsonMember* Find(JsonMembers members, absl::string_view key) {
  const JsonMember* at = members.begin();
  while (at != members.end() && !StandsFor(at->key, key)) at = NextMember(at);
  return at;
}

// The functions below return the position after what they parse, or nullptr if it is not there.

const char* SkipSpace(const char* at, const char* end) {
  while (at != end && IsSpace(*at)) ++at;
  return at;
}

const char* SkipWord(const char* at, const char* end, absl::string_view word) {
  const absl::string_view rest(at, static_cast<size_t>(end - at));
  return absl::StartsWith(rest, word) ? at + word.size() : nullptr;
}

// One digit or more.
const char* SkipDigits(const char* at, const char* end) {
  const char* const begin = at;
  while (at != end && absl::ascii_isdigit(*at)) ++at;
  return at != begin ? at : nullptr;
}

const char* SkipNumberText(const char* at, const char* end) {
  if (at != end && *at == '-') ++at;
  at = at != end && *at == '0' ? at + 1 : SkipDigits(at, end);
  if (at != nullptr && at != end && *at == '.') at = SkipDigits(at + 1, end);
  if (at == nullptr || at == end || (*at != 'e' && *at != 'E')) return at;
  ++at;
  if (at != end && (*at == '+' || *at == '-')) ++at;
  return SkipDigits(at, end);
}

// Refuses numbers beyond the range of a double: most parsers do, and the others turn them into
// infinity. Only a number with a three-digit exponent, or with many digits, can be one.
const char* SkipNumber(const char* at, const char* end) {
  const char* const behind = SkipNumberText(at, end);
  if (behind == nullptr || behind - at < 5) return behind;
  const absl::string_view text(at, static_cast<size_t>(behind - at));
  const size_t exponent = text.find_first_of("eE");
  if (text.size() < 200 && (exponent == text.npos || text.size() - exponent < 4)) return behind;
  double value = 0;
  return absl::SimpleAtod(text, &value) && std::isfinite(value) ? behind : nullptr;
}

// Skips a value that contains no other values.
const char* SkipScalar(const char* at, const char* end) {
  if (at == end) return nullptr;
  switch (*at) {
    case '"': return SkipJsonString(at + 1, end);
    case 't': return SkipWord(at, end, "true");
    case 'f': return SkipWord(at, end, "false");
    case 'n': return SkipWord(at, end, "null");
    default: return SkipNumber(at, end);
  }
}

const char* SkipKey(const char* at, const char* end) {
  if (at == end || *at != '"') return nullptr;
  return SkipJsonString(at + 1, end);
}

const char* SkipColon(const char* at, const char* end) {
  at = SkipSpace(at, end);
  return at != end && *at == ':' ? SkipSpace(at + 1, end) : nullptr;
}

class Scanner {
 public:
  Scanner(absl::string_view text, absl::string_view into, int max_depth, JsonScan& scan)
      : text_(text),
        end_(text.data() + text.size()),
        into_(into),
        max_depth_(max_depth),
        scan_(scan) {}

  void Run() {
    const char* at = SkipSpace(text_.data(), end_);
    at = SkipValue(at, /*depth=*/0, /*kept=*/true);
    const bool is_whole = at != nullptr && SkipSpace(at, end_) == end_;
    if (!is_whole && scan_.error.empty()) scan_.error = kInvalid;
  }

 private:
  // `depth` is the number of enclosing arrays and objects. Keeps the value's members if `kept`.
  const char* SkipValue(const char* at, int depth, bool kept) {
    if (kept && at != end_ && *at == '{') return KeepMembers(at, depth + 1);
    return SkipUnkept(at, depth);
  }

  // Recurses at most to kMaxKeptDepth.
  const char* KeepMembers(const char* at, int depth) {
    at = SkipSpace(at + 1, end_);
    if (at != end_ && *at == '}') return at + 1;
    while (true) {
      const char* const key = at;
      at = SkipKey(key, end_);
      if (at == nullptr) return nullptr;
      const size_t index = scan_.members.size();
      scan_.members.push_back({.key = Between(key, at), .value = {}});
      const char* const value = SkipColon(at, end_);
      if (value == nullptr) return nullptr;
      at = SkipValue(value, depth, IsLookedInto(depth, scan_.members[index].key));
      if (at == nullptr) return nullptr;
      scan_.members[index].value = Between(value, at);
      scan_.members[index].inner = scan_.members.size() - index - 1;
      at = SkipSpace(at, end_);
      if (at == end_ || *at != ',') break;
      at = SkipSpace(at + 1, end_);
    }
    return at != end_ && *at == '}' ? at + 1 : nullptr;
  }

  // Whether the value of a kept member at this depth is looked into.
  bool IsLookedInto(int depth, absl::string_view key) const {
    return depth == 1 ? !into_.empty() && StandsFor(key, into_) : depth < kMaxKeptDepth;
  }

  const char* SkipUnkept(const char* at, const int outer_depth) {
    std::array<char, kMaxScannedDepth + 1> closings;  // Of what is open, by depth.
    int depth = outer_depth;
    while (true) {
      // A value begins here.
      if (at != end_ && (*at == '{' || *at == '[')) {
        if (depth == max_depth_) {
          scan_.error = kTooDeep;
          return nullptr;
        }
        const bool is_object = *at == '{';
        closings[++depth] = is_object ? '}' : ']';
        at = SkipSpace(at + 1, end_);
        if (at == end_ || *at != closings[depth]) {
          if (is_object) at = SkipMemberStart(at);
          if (at == nullptr) return nullptr;
          continue;
        }
      } else {
        at = SkipScalar(at, end_);
        if (at == nullptr) return nullptr;
      }
      // A value, or an empty array or object, ends here.
      while (depth > outer_depth) {
        at = SkipSpace(at, end_);
        if (at == end_ || *at != closings[depth]) break;
        ++at;
        --depth;
      }
      if (depth == outer_depth) return at;
      if (at == end_ || *at != ',') return nullptr;
      at = SkipSpace(at + 1, end_);
      if (closings[depth] == '}') at = SkipMemberStart(at);
      if (at == nullptr) return nullptr;
    }
  }

  const char* SkipMemberStart(const char* at) const {
    at = SkipKey(at, end_);
    return at == nullptr ? nullptr : SkipColon(at, end_);
  }

  static absl::string_view Between(const char* begin, const char* end) {
    return {begin, static_cast<size_t>(end - begin)};
  }

  const absl::string_view text_;
  const char* const end_;
  const absl::string_view into_;
  const int max_depth_;
  JsonScan& scan_;
};

}  // namespace

JsonScan ScanJson(absl::string_view text, absl::string_view into, int max_depth) {
  JsonScan scan;
  Scanner(text, into, max_depth, scan).Run();
  return scan;
}

std::optional<absl::string_view> FindMember(JsonMembers members, absl::string_view key) {
  const JsonMember* const member = Find(members, key);
  if (member == members.end()) return std::nullopt;
  return member->value;
}

JsonMembers InnerMembers(JsonMembers members, absl::string_view key) {
  const JsonMember* const member = Find(members, key);
  if (member == members.end()) return {};
  return {member + 1, member->inner};
}

bool HasDuplicates(JsonMembers members) {
  absl::InlinedVector<absl::string_view, 8> names;
  std::forward_list<std::string> decoded;
  for (const JsonMember* at = members.begin(); at != members.end(); at = NextMember(at)) {
    names.push_back(at->key);
    if (!absl::StrContains(at->key, '\\')) continue;
    names.back() =
        decoded.emplace_front(absl::StrCat("\"", DecodeJsonString(at->key).value_or(""), "\""));
  }
  // With this order most comparisons end with the sizes.
  absl::c_sort(names, [](absl::string_view a, absl::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return absl::c_adjacent_find(names) != names.end();
}

bool IsJsonInteger(absl::string_view value) {
  absl::ConsumePrefix(&value, "-");
  return !value.empty() && absl::c_all_of(value, absl::ascii_isdigit);
}

std::string OnOneLine(std::string text) {
  absl::StripAsciiWhitespace(&text);
  if (!absl::StrContains(text, '\n') && !absl::StrContains(text, '\r')) return text;
  std::string line;
  line.reserve(text.size());
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const next = *at == '"' ? SkipJsonString(at + 1, end) : at + 1;
    if (!IsSpace(*at)) line.append(at, next);
    at = next;
  }
  return line;
}

}  // namespace callslip
