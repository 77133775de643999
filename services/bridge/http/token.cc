#include "bridge/http/token.h"

#include <fstream>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bridge/http/limits.h"

namespace callslip::bridge {
namespace {

std::vector<absl::string_view> WordsOf(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
}

absl::string_view FindWord(absl::string_view text) {
  if (const auto words = WordsOf(text); words.size() == 1) return words[0];
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const auto words = WordsOf(line);
    if (words.size() == 3 && words[0] == "client") return words[2];
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> FindToken(absl::string_view text) {
  const absl::string_view token = FindWord(text);
  if (token.empty() || token.size() > kMaxTokenBytes ||
      !absl::c_all_of(token, absl::ascii_isgraph)) {
    return absl::InvalidArgumentError(
        "no token was found; it must be the only word, or stand in a line `client NAME TOKEN`");
  }
  return std::string(token);
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxTokenFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.empty()) {
    return absl::NotFoundError(
        absl::StrCat("--token-file ", path, " cannot be read, or holds nothing"));
  }
  absl::StatusOr<std::string> token = FindToken(text);
  if (token.ok()) return token;
  return absl::InvalidArgumentError(
      absl::StrCat("--token-file ", path, ": ", token.status().message()));
}

}  // namespace callslip::bridge
