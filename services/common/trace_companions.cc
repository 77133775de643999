#include "common/trace_companions.h"

#include <cstddef>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace callslip {
namespace {

using Members = std::vector<absl::string_view>;

// From Trace Context, section 3.3.1.
constexpr size_t kMaxEntries = 32;
constexpr size_t kKeyBytes = 256;
constexpr size_t kTenantBytes = 241;
constexpr size_t kSystemBytes = 14;
constexpr size_t kValueBytes = 256;
// Longer entries are dropped first.
constexpr size_t kLongEntryBytes = 128;
// From Baggage, section 3.2.
constexpr size_t kMaxBaggage = 180;

// Spaces and tabs around a member are not part of it.
absl::string_view Trimmed(absl::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == absl::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// A key, or one half of it: the rule for its first character is stricter.
bool IsKeyPart(absl::string_view text, size_t most, bool may_begin_with_digit) {
  if (text.empty() || text.size() > most) return false;
  if (!IsLower(text.front()) && !(may_begin_with_digit && absl::ascii_isdigit(text.front()))) {
    return false;
  }
  return absl::c_all_of(text, [](char c) {
    return IsLower(c) || absl::ascii_isdigit(c) || c == '_' || c == '-' || c == '*' || c == '/';
  });
}

// A vendor's key: `vendor`, or `tenant@vendor`.
bool IsStateKey(absl::string_view key) {
  const size_t at = key.find('@');
  if (at == absl::string_view::npos) return IsKeyPart(key, kKeyBytes, false);
  return IsKeyPart(key.substr(0, at), kTenantBytes, true) &&
         IsKeyPart(key.substr(at + 1), kSystemBytes, false);
}

bool IsStateMember(absl::string_view member) {
  const size_t equals = member.find('=');
  if (equals == absl::string_view::npos || !IsStateKey(member.substr(0, equals))) return false;
  const absl::string_view value = member.substr(equals + 1);
  return !value.empty() && value.size() <= kValueBytes &&
         absl::c_all_of(value, [](char c) { return c >= 0x20 && c <= 0x7e && c != '='; });
}

bool IsToken(absl::string_view text) {
  constexpr absl::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && absl::c_all_of(text, [&](char c) {
    return absl::ascii_isalnum(c) || absl::c_linear_search(kMarks, c);
  });
}

bool IsBaggageValue(absl::string_view text) {
  return absl::c_all_of(text, [](char c) {
    return c > 0x20 && c <= 0x7e && c != '"' && c != ',' && c != ';' && c != '\\';
  });
}

// `key=value`, or only a key unless `needs_value`.
bool IsPair(absl::string_view text, bool needs_value) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) return !needs_value && IsToken(Trimmed(text));
  return IsToken(Trimmed(text.substr(0, equals))) &&
         IsBaggageValue(Trimmed(text.substr(equals + 1)));
}

// A member with its properties.
bool IsBaggageMember(absl::string_view member) {
  bool is_first = true;
  for (const absl::string_view part : absl::StrSplit(member, ';')) {
    if (!IsPair(part, is_first)) return false;
    is_first = false;
  }
  return true;
}

size_t LengthOf(const Members& members) {
  size_t length = members.empty() ? 0 : members.size() - 1;
  for (const absl::string_view member : members) length += member.size();
  return length;
}

// Drops the long members first, then others, from the end: those are the oldest.
void Shorten(Members& members) {
  for (const size_t above : {kLongEntryBytes, size_t{0}}) {
    for (size_t i = members.size(); i-- > 0 && LengthOf(members) > kMaxTracestateBytes;) {
      if (members[i].size() > above) members.erase(members.begin() + static_cast<ptrdiff_t>(i));
    }
  }
}

// Valid tabs occur only between tokens, where a space means the same. gRPC aborts a process that
// puts a tab into metadata.
std::string WithoutTabs(absl::string_view text) { return absl::StrReplaceAll(text, {{"\t", " "}}); }

}  // namespace

std::string TracestateOf(absl::string_view tracestate) {
  tracestate = Trimmed(tracestate);
  Members members;
  for (const absl::string_view part : absl::StrSplit(tracestate, ',')) {
    const absl::string_view member = Trimmed(part);
    // Empty members are allowed and mean nothing.
    if (member.empty()) continue;
    if (!IsStateMember(member) || members.size() == kMaxEntries) return "";
    members.push_back(member);
  }
  if (members.empty()) return "";
  if (tracestate.size() <= kMaxTracestateBytes) return WithoutTabs(tracestate);
  Shorten(members);
  return absl::StrJoin(members, ",");
}

std::string BaggageOf(absl::string_view baggage) {
  baggage = Trimmed(baggage);
  if (baggage.empty()) return "";
  size_t fits = 0;
  size_t members = 0;
  for (const absl::string_view member : absl::StrSplit(baggage, ',')) {
    if (!IsBaggageMember(member)) return "";
    const auto end = static_cast<size_t>(member.data() + member.size() - baggage.data());
    if (++members <= kMaxBaggage && end <= kMaxBaggageBytes) fits = end;
  }
  return WithoutTabs(Trimmed(baggage.substr(0, fits)));
}

}  // namespace callslip
