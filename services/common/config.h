#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/address.h"

namespace callslip {

// Parses 512MiB, 3GiB, 512m, 3G. Nullopt for anything else.
std::optional<int64_t> ParseBytes(absl::string_view text);

// Sets a target, which must outlive it, to what a value means. INVALID_ARGUMENT says what to write
// instead, and leaves the target as it is.
using ValueSetter = std::function<absl::Status(absl::string_view value)>;
ValueSetter SetterOf(bool* target);
ValueSetter SetterOf(Address* target);
ValueSetter SetterOf(int* target, int min, int max);
// The message gives `examples`, and joins the choices with `separator`.
ValueSetter SetterOf(absl::Duration* target, absl::Duration min, absl::Duration max,
                     absl::string_view examples);
ValueSetter SetterOf(std::string* target, const std::vector<std::string>& choices,
                     absl::string_view separator);

// The options of one program, each settable in four places; the first that names it wins:
//   1. a flag          --log-level debug   or  --log-level=debug
//   2. the environment CALLSLIP_LOG_LEVEL=debug
//   3. a YAML file     log_level: debug        (named by --config or CALLSLIP_CONFIG)
//   4. the default     the value of the target when it was added
// Nested YAML keys are joined: `queue: {delay_seconds: 1}` sets `--queue-delay-seconds`.
//
// Every program also gets --config, --help and --version. Unknown flags, unknown YAML keys and
// invalid values are errors that name the option. Unknown CALLSLIP_* variables are ignored: they
// may be meant for another program.
//
// The targets must outlive the set. Not thread-safe: used once, in main().
class OptionSet {
 public:
  // `summary` is one line for --help.
  OptionSet(absl::string_view program, absl::string_view summary);

  // A word that can follow the program's name to select another action, such as `healthcheck`.
  // `arguments` are the words that follow it, before, between or after flags: `TEXT` is required,
  // `[METHOD]` is optional. After `--` every word is an argument.
  void AddCommand(absl::string_view name, absl::string_view help,
                  std::vector<std::string> arguments = {});

  void Add(absl::string_view name, std::string* target, absl::string_view help);
  void Add(absl::string_view name, bool* target, absl::string_view help);
  void Add(absl::string_view name, Address* target, absl::string_view help);
  // At least one address, comma-separated, or a YAML sequence. Replaces the whole default.
  void Add(absl::string_view name, std::vector<Address>* target, absl::string_view help);
  // Refuses values outside [`min`, `max`].
  void Add(absl::string_view name, int* target, int min, int max, absl::string_view help);
  // Written with a unit: 250ms, 10s, 10m. Refuses values outside [`min`, `max`].
  void Add(absl::string_view name, absl::Duration* target, absl::Duration min, absl::Duration max,
           absl::string_view help);
  // A number of bytes with a unit: 512MiB, 3GiB; also 512m, 3g, as container engines write it.
  // Refuses values outside [`min`, `max`].
  void AddBytes(absl::string_view name, int64_t* target, int64_t min, int64_t max,
                absl::string_view help);
  // Comma-separated, or a YAML sequence. Replaces the whole default.
  void Add(absl::string_view name, std::vector<std::string>* target, absl::string_view help);
  // One of `choices`.
  void AddChoice(absl::string_view name, std::string* target,
                 const std::vector<std::string>& choices, absl::string_view help);

  struct Parsed {
    enum class Action { kRun, kShowHelp, kShowVersion };
    Action action = Action::kRun;
    std::string command;                 // One of the added commands, or empty.
    std::vector<std::string> arguments;  // The arguments of `command`.
  };

  // Returns the value of an environment variable, or nullptr.
  using Environment = std::function<const char*(const char* name)>;

  // Sets every target. `arguments` excludes the program's name. INVALID_ARGUMENT if an option is
  // unknown or a value is invalid; the targets are then unspecified. NOT_FOUND if the file cannot
  // be read.
  absl::StatusOr<Parsed> Parse(const std::vector<std::string>& arguments,
                               const Environment& environment);

  // Calls Parse() with main()'s arguments and the real environment. For --help, --version or an
  // error, prints the text and exits.
  Parsed ParseOrExit(int argc, char** argv);

  std::string HelpText() const;

 private:
  struct Option {
    std::string name;
    std::string value_name;
    std::string help;
    std::string default_text;
    ValueSetter set;
  };

  struct Command {
    std::string name;
    std::string help;
    std::vector<std::string> arguments;

    std::string Usage() const;
  };

  void AddOption(Option option);
  // Handles a word that is not a flag. INVALID_ARGUMENT if no word is expected.
  absl::Status TakeWord(absl::string_view word, Parsed& parsed) const;
  absl::Status CheckArguments(const Parsed& parsed) const;
  const Command* FindCommand(absl::string_view name) const;
  const Option* Find(absl::string_view name) const;
  // Sets one option. Errors name `origin`, the place where the value was written.
  absl::Status Set(const Option& option, absl::string_view value, absl::string_view origin) const;
  absl::Status ReadFile(const std::string& path);
  absl::Status ReadEnvironment(const Environment& environment);

  const std::string program_;
  const std::string summary_;
  std::vector<Option> options_;
  std::vector<Command> commands_;
  std::string config_path_;
};

}  // namespace callslip
