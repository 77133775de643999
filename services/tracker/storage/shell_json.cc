#include "tracker/storage/shell_json.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tracker/storage/json.h"

namespace callslip::tracker {
namespace {

std::string ParamsOf(const ShellCommand& command) {
  return Dump(FileJson{{"command", command.command}});
}

// Replaces bytes that are not UTF-8 by U+FFFD.
std::string ValidText(absl::string_view text) {
  return ParseJson(Dump(Json(std::string(text))))->get<std::string>();
}

ShellResult ResultOf(const ShellCommand& command, const CommandSnapshot& snapshot) {
  ShellResult result{.command_id = command.id, .command = command.command};
  if (snapshot.state != CommandState::kCompleted) {
    result.ran = false;
    if (snapshot.error != nullptr) {
      result.output = ValidText(absl::StrCat(snapshot.error->code, ": ", snapshot.error->message));
    }
    return result;
  }
  if (snapshot.result == nullptr) return result;
  const std::optional<Json> json = ParseJson(*snapshot.result);
  if (!json.has_value() || !json->contains("output")) {
    result.output = ValidText(*snapshot.result);
    return result;
  }
  result.output = TextOf(*json, "output");
  result.exit_code = static_cast<int>(IntAt(*json, "exit_code"));
  return result;
}

}  // namespace

const ShellFormat kShellJson = {.params = ParamsOf, .result = ResultOf};

}  // namespace callslip::tracker
