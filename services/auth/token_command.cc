#include "auth/token_command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "auth/token_file.h"
#include "common/status_macros.h"

namespace callslip {
namespace {

constexpr char kUsage[] =
    "use: token list | token add ROLE NAME [target=A,B] [worker=NAME] | token remove "
    "NAME|FINGERPRINT, each with --token-file FILE or CALLSLIP_TOKEN_FILE";

absl::Status Usage() { return absl::InvalidArgumentError(kUsage); }

std::string FingerprintOf(const TokenFile::Entry& entry) {
  return entry.certificate.empty() ? TokenFingerprint(entry.token) : "cert:" + entry.certificate;
}

absl::StatusOr<std::string> List(const std::string& path) {
  ASSIGN_OR_RETURN(const TokenFile file, LoadTokenFile(path));
  std::string text = absl::StrFormat("%-14s %s\n", "FINGERPRINT", "WHO");
  for (const TokenFile::Entry& entry : file.entries) {
    absl::StrAppendFormat(&text, "%-14s %s\n", FingerprintOf(entry),
                          DescribePrincipal(entry.principal));
  }
  return text;
}

absl::StatusOr<std::string> Add(const std::string& path, const std::vector<std::string>& words) {
  if (words.size() < 2) return Usage();
  const std::string token = NewToken();
  std::vector<std::string> line = {words[0], words[1], token};
  line.insert(line.end(), words.begin() + 2, words.end());
  for (const std::string& word : words) {
    if (word.find_first_of(" \t\r\n") != std::string::npos) return Usage();
  }
  RETURN_IF_ERROR(EditTokenFile(path, [&line](const std::string& text) {
    const bool ends_line = text.empty() || text.back() == '\n';
    return absl::StrCat(text, ends_line ? "" : "\n", absl::StrJoin(line, " "), "\n");
  }));
  return absl::StrCat(token, "\n");
}

absl::StatusOr<std::string> Remove(const std::string& path, const std::string& named) {
  int removed = 0;
  RETURN_IF_ERROR(EditTokenFile(path, [&](const std::string& text) -> absl::StatusOr<std::string> {
    std::vector<std::string> lines = absl::StrSplit(text, '\n');
    const auto is_meant = [&named](const std::string& line) {
      const absl::StatusOr<TokenFile> one = ParseTokenFile(line);
      return one.ok() && !one->entries.empty() &&
             (one->entries[0].principal.name == named || FingerprintOf(one->entries[0]) == named);
    };
    removed = static_cast<int>(std::erase_if(lines, is_meant));
    if (removed == 0) {
      return absl::NotFoundError(absl::StrCat("the token file ", path, " has no entry named ",
                                              named, ", and no token of that fingerprint"));
    }
    const std::string left = absl::StrJoin(lines, "\n");
    if (!ParseTokenFile(left).ok()) {
      return absl::FailedPreconditionError(
          "the last token cannot be removed: add another one first");
    }
    return left;
  }));
  return absl::StrCat("removed ", removed, removed == 1 ? " token\n" : " tokens\n");
}

}  // namespace

absl::StatusOr<std::string> RunTokenCommand(std::vector<std::string> arguments,
                                            std::string token_file) {
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != "--token-file") continue;
    token_file = arguments[i + 1];
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    break;
  }
  if (arguments.empty() || token_file.empty()) return Usage();
  const std::string action = arguments.front();
  arguments.erase(arguments.begin());
  if (action == "list" && arguments.empty()) return List(token_file);
  if (action == "add") return Add(token_file, arguments);
  if (action == "remove" && arguments.size() == 1) return Remove(token_file, arguments.front());
  return Usage();
}

}  // namespace callslip
