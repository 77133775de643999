#include "gateway/http/accept.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace callslip::gateway {
namespace {

// Takes the text before the next `separator` outside of quotes.
absl::string_view TakePart(absl::string_view& rest, char separator) {
  bool is_quoted = false;
  size_t at = 0;
  for (; at < rest.size() && (is_quoted || rest[at] != separator); ++at) {
    if (rest[at] == '"') is_quoted = !is_quoted;
    if (rest[at] == '\\' && is_quoted) ++at;
  }
  const absl::string_view part = rest.substr(0, at);
  rest.remove_prefix(part.size());
  absl::ConsumePrefix(&rest, absl::string_view(&separator, 1));
  return absl::StripAsciiWhitespace(part);
}

constexpr int kItself = 3;

// 0 if it does not match `type`; the more specific, the higher.
int Match(absl::string_view range, absl::string_view type) {
  if (range == "*/*") return 1;
  if (absl::EqualsIgnoreCase(range, type)) return kItself;
  if (!absl::ConsumeSuffix(&range, "/*")) return 0;
  return absl::EqualsIgnoreCase(range, type.substr(0, type.find('/'))) ? 2 : 0;
}

// False for a weight of 0.
bool HasWeight(absl::string_view parameters) {
  while (!parameters.empty()) {
    const std::pair<absl::string_view, absl::string_view> parameter =
        absl::StrSplit(TakePart(parameters, ';'), absl::MaxSplits('=', 1));
    double weight = 0;
    if (absl::EqualsIgnoreCase(parameter.first, "q") &&
        absl::SimpleAtod(parameter.second, &weight)) {
      return weight > 0;
    }
  }
  return true;
}

struct Verdict {
  int match = 0;  // Of the most specific range that matches; see Match().
  bool is_taken = false;
};

Verdict VerdictOn(absl::string_view accept, absl::string_view type) {
  Verdict best;
  while (!accept.empty()) {
    absl::string_view parameters = TakePart(accept, ',');
    const int match = Match(TakePart(parameters, ';'), type);
    if (match == 0 || match < best.match) continue;
    best.is_taken = (match == best.match && best.is_taken) || HasWeight(parameters);
    best.match = match;
  }
  return best;
}

}  // namespace

bool Accepts(absl::string_view accept, absl::string_view type) {
  return absl::StripAsciiWhitespace(accept).empty() || VerdictOn(accept, type).is_taken;
}

bool AsksFor(absl::string_view accept, absl::string_view type) {
  const Verdict verdict = VerdictOn(accept, type);
  return verdict.match == kItself && verdict.is_taken;
}

}  // namespace callslip::gateway
