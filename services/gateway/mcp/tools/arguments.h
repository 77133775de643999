#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The `wait_ms` of unchecked arguments, clamped to [0, `longest`]; `without` if there is none. For
// code that needs it before the arguments are read.
absl::Duration WaitIn(const Json& arguments, absl::Duration without, absl::Duration longest);

// Reads the arguments of a tool call one by one and remembers the first error. Read all arguments
// that the tool knows, then ask for status(): it also refuses arguments that were never read, since
// a misspelled one would otherwise be ignored silently.
class Arguments : private JsonFields {
 public:
  // `arguments` must outlive this. Null counts as no arguments.
  explicit Arguments(const Json& arguments);

  std::optional<std::string> Text(const char* name) { return OptionalText(name); }
  // Text that must not be empty if present.
  std::optional<std::string> NonEmptyText(const char* name);
  using JsonFields::Boolean;
  using JsonFields::Integer;
  // A list of strings, each of which may be empty.
  std::optional<std::vector<std::string>> Texts(const char* name) { return OptionalTexts(name); }
  // Required text that may be empty.
  std::string PresentText(const char* name);
  // Required text that must not be empty.
  std::string RequiredText(const char* name);
  // The id of a command or session: RequiredText() of at most kMaxIdBytes.
  std::string Id(const char* name);
  // Required text that must be one of `choices`; empty if it is not.
  using JsonFields::Choice;
  std::optional<std::string> OptionalChoice(const char* name,
                                            const std::vector<std::string>& choices);
  int64_t RequiredInteger(const char* name, int64_t min, int64_t max);
  // Reports that one of `names` is required, because all of them are missing.
  void NeedOneOf(const std::vector<const char*>& names);
  // Reports that the two must be used together.
  void NeedBoth(const char* one, const char* other);
  // Reports that the two exclude each other.
  void NotBoth(const char* one, const char* other);

  // An object of 1 to `most` members.
  std::optional<Json> Object(const char* name, size_t most);
  // A list of 1 to `most` objects.
  std::optional<std::vector<Json>> Objects(const char* name, size_t most);

  // Reports any other error.
  using JsonFields::Fail;

  // The first error, as a sentence without its full stop; empty if there is none.
  std::string Problem() const;
  // INVALID_ARGUMENT, reason `invalid_arguments`, naming the argument.
  absl::Status status() const;
};

}  // namespace callslip::gateway
