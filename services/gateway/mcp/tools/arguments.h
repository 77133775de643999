#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_ARGUMENTS_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The `wait_ms` of arguments of any kind, in [0, `longest`]; `without` where they name none. For
// whoever has to know before they are read.
absl::Duration WaitIn(const Json& arguments, absl::Duration without, absl::Duration longest);

// Reads the arguments of a tool call one by one and remembers the first thing that is wrong with
// them. Read all that the tool knows, then ask for status(): it also refuses arguments that were
// never asked for, since a misspelt one would otherwise be ignored in silence.
class Arguments {
 public:
  // `arguments` must outlive this. Null counts as no arguments.
  explicit Arguments(const Json& arguments);

  std::optional<std::string> Text(const char* name);
  // Text that must not be empty where it is there.
  std::optional<std::string> NonEmptyText(const char* name);
  std::optional<int64_t> Integer(const char* name, int64_t min, int64_t max);
  std::optional<bool> Boolean(const char* name);
  // A list of strings, each of which may be empty.
  std::optional<std::vector<std::string>> Texts(const char* name);
  // Text that must be there, and may be empty.
  std::string PresentText(const char* name);
  // Text that must be there and not empty.
  std::string RequiredText(const char* name);
  // The id of a command or session: RequiredText() of at most kMaxIdBytes.
  std::string Id(const char* name);
  // Text that must be there and be one of `choices`; empty where it is not.
  std::string Choice(const char* name, const std::vector<std::string>& choices);
  std::optional<std::string> OptionalChoice(const char* name,
                                            const std::vector<std::string>& choices);
  int64_t RequiredInteger(const char* name, int64_t min, int64_t max);
  // Says that one of `names` must be there, because none of them was.
  void NeedOneOf(const std::vector<const char*>& names);
  // Says that the two go together.
  void NeedBoth(const char* one, const char* other);
  // Says that one of the two is too many.
  void NotBoth(const char* one, const char* other);

  // An object of 1 to `most` members.
  std::optional<Json> Object(const char* name, size_t most);
  // A list of 1 to `most` objects.
  std::optional<std::vector<Json>> Objects(const char* name, size_t most);

  // Says that something else is wrong.
  void Fail(absl::string_view problem);

  // What is wrong, as a sentence without its full stop; empty where nothing is.
  std::string Problem() const;
  // INVALID_ARGUMENT, reason `invalid_arguments`, naming the argument.
  absl::Status status() const;

 private:
  const Json* Find(const char* name);

  const Json& arguments_;
  std::vector<const char*> known_;  // Literals.
  std::string problem_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_ARGUMENTS_H_
