#include "bridge/clients/fix.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "bridge/clients/file_replacement.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

// Lines of context around a change.
constexpr size_t kContextLines = 2;
constexpr size_t kMaxShownBytes = 160;

void AppendLine(std::string& shown, char sign, absl::string_view line) {
  absl::StrAppend(&shown, "    ", absl::string_view(&sign, 1), " ");
  for (const char c : line.substr(0, kMaxShownBytes)) {
    if (c == '\t' || !absl::ascii_iscntrl(c)) shown += c;
  }
  absl::StrAppend(&shown, line.size() > kMaxShownBytes ? " …\n" : "\n");
}

std::string Indented(absl::string_view text) {
  std::string indented;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    absl::StrAppend(&indented, "    ", line, "\n");
  }
  return indented;
}

// Configures one client; returns the outcome as the rest of a sentence.
absl::StatusOr<std::string> Configure(const Client& client, const ServerEntry& entry,
                                      const Person& person, Clock& clock) {
  ASSIGN_OR_RETURN(const ReadFile file, ReadForReplacement(client.file));
  ASSIGN_OR_RETURN(const std::string changed, SetEntry(client, file.content, entry));
  if (changed == file.content) return "is configured already; nothing is changed";
  const absl::string_view title = file.exists ? "is to be changed" : "is to be made";
  person.tell(
      absl::StrCat("  ", file.path, " ", title, ":\n\n", ShowChange(file.content, changed), "\n"));
  if (!person.ask("  Write it? [y/N] ")) return "is left as it is";
  ASSIGN_OR_RETURN(const std::string copy, Replace(file, changed, ToWallTime(clock.Now())));
  return copy.empty() ? "is written" : absl::StrCat("is written; what it was is in\n  ", copy);
}

}  // namespace

bool FixClients(const std::vector<Client>& clients, const std::vector<std::string>& command,
                const Person& person, Clock& clock) {
  if (clients.empty()) {
    person.tell(absl::StrCat("No agent was found; known are ", absl::StrJoin(KnownClients(), ", "),
                             ".\nAny other that speaks MCP over stdio is to start this:\n\n    ",
                             absl::StrJoin(command, " "), "\n"));
    return false;
  }
  bool is_all_well = true;
  for (const Client& client : clients) {
    const ServerEntry entry = EntryFor(client, command);
    person.tell(absl::StrCat(client.name, "\n"));
    const absl::StatusOr<std::string> done = Configure(client, entry, person, clock);
    if (done.ok()) {
      person.tell(absl::StrCat("  ", client.file, " ", *done, "\n\n"));
      continue;
    }
    is_all_well = false;
    person.tell(absl::StrCat("  ", client.file, " is left as it is: ", done.status().message(),
                             ".\n  Add this to it by hand:\n\n", Indented(EntryText(client, entry)),
                             "\n"));
  }
  return is_all_well;
}

std::string ShowChange(absl::string_view before, absl::string_view after) {
  std::vector<absl::string_view> old_lines;
  if (!before.empty()) old_lines = absl::StrSplit(absl::StripSuffix(before, "\n"), '\n');
  const std::vector<absl::string_view> lines = absl::StrSplit(absl::StripSuffix(after, "\n"), '\n');
  const size_t shorter = std::min(old_lines.size(), lines.size());
  size_t same = 0;
  while (same < shorter && old_lines[same] == lines[same]) ++same;
  size_t same_end = 0;
  while (same_end < shorter - same &&
         old_lines[old_lines.size() - 1 - same_end] == lines[lines.size() - 1 - same_end]) {
    ++same_end;
  }
  std::string shown;
  const size_t first = same - std::min(same, kContextLines);
  const size_t end = lines.size() - same_end;
  for (size_t i = first; i < same; ++i) AppendLine(shown, ' ', lines[i]);
  for (size_t i = same; i < old_lines.size() - same_end; ++i) AppendLine(shown, '-', old_lines[i]);
  for (size_t i = same; i < end; ++i) AppendLine(shown, '+', lines[i]);
  for (size_t i = end; i < std::min(end + kContextLines, lines.size()); ++i) {
    AppendLine(shown, ' ', lines[i]);
  }
  return shown;
}

}  // namespace callslip::bridge
