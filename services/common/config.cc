#include "common/config.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/version.h"
#include "yaml-cpp/yaml.h"

namespace callslip {
namespace {

std::string EnvironmentName(absl::string_view option) {
  return absl::StrCat("CALLSLIP_",
                      absl::AsciiStrToUpper(absl::StrReplaceAll(option, {{"-", "_"}})));
}

using Setting = std::pair<std::string, std::string>;  // Option name and value.

// Flattens a YAML tree into settings, joining the keys on the way down.
absl::Status Flatten(const YAML::Node& node, const std::string& prefix,
                     std::vector<Setting>& settings) {
  if (node.IsScalar() || node.IsNull()) {
    settings.emplace_back(prefix, node.IsNull() ? "" : node.Scalar());
    return absl::OkStatus();
  }
  if (node.IsSequence()) {
    std::vector<std::string> values;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the list \"", prefix, "\" may hold plain values only"));
      }
      values.push_back(item.Scalar());
    }
    settings.emplace_back(prefix, absl::StrJoin(values, ","));
    return absl::OkStatus();
  }
  for (const auto& entry : node) {
    const std::string key = absl::StrReplaceAll(entry.first.Scalar(), {{"_", "-"}});
    RETURN_IF_ERROR(
        Flatten(entry.second, prefix.empty() ? key : absl::StrCat(prefix, "-", key), settings));
  }
  return absl::OkStatus();
}

// Turns yaml-cpp's exceptions into statuses.
absl::StatusOr<std::vector<Setting>> ReadYaml(const std::string& path) {
  std::vector<Setting> settings;
  try {
    const YAML::Node root = YAML::LoadFile(path);
    if (root.IsNull()) return settings;
    if (!root.IsMap()) {
      return absl::InvalidArgumentError(absl::StrCat(path, " must hold `key: value` lines"));
    }
    RETURN_IF_ERROR(Flatten(root, "", settings));
  } catch (const YAML::BadFile&) {
    return absl::NotFoundError(absl::StrCat("cannot read the configuration file ", path));
  } catch (const std::exception& error) {  // Other than YAML's own: the path is a folder.
    return absl::InvalidArgumentError(absl::StrCat(path, " is not valid YAML: ", error.what()));
  }
  return settings;
}

constexpr int64_t kMebibyte = int64_t{1} << 20;

std::string FormatBytes(int64_t bytes) { return absl::StrCat(bytes / kMebibyte, "MiB"); }

// `parse` returns whether a value is one of those that are `wanted`.
template <typename T, typename Parse>
ValueSetter Setter(T* target, absl::string_view wanted, Parse parse) {
  return
      [target, parse = std::move(parse),
       bad = absl::InvalidArgumentError(absl::StrCat("write ", wanted))](absl::string_view value) {
        T parsed{};
        if (!parse(value, &parsed)) return bad;
        *target = std::move(parsed);
        return absl::OkStatus();
      };
}

}  // namespace

std::optional<int64_t> ParseBytes(absl::string_view text) {
  if (!absl::ConsumeSuffix(&text, "iB")) (void)absl::ConsumeSuffix(&text, "ib");
  int64_t unit = 0;
  if (absl::ConsumeSuffix(&text, "M") || absl::ConsumeSuffix(&text, "m")) unit = kMebibyte;
  if (absl::ConsumeSuffix(&text, "G") || absl::ConsumeSuffix(&text, "g")) unit = kMebibyte << 10;
  int64_t number = 0;
  constexpr int64_t kMaxUnits = int64_t{1} << 30;
  if (unit == 0 || !absl::SimpleAtoi(text, &number) || number < 0 || number > kMaxUnits) {
    return std::nullopt;
  }
  return number * unit;
}

ValueSetter SetterOf(bool* target) { return Setter(target, "true or false", absl::SimpleAtob); }

ValueSetter SetterOf(Address* target) {
  return [target](absl::string_view value) {
    ASSIGN_OR_RETURN(*target, ParseAddress(value));
    return absl::OkStatus();
  };
}

ValueSetter SetterOf(int* target, int min, int max) {
  return Setter(target, absl::StrCat("a whole number from ", min, " to ", max),
                [=](absl::string_view value, int* number) {
                  return absl::SimpleAtoi(value, number) && *number >= min && *number <= max;
                });
}

ValueSetter SetterOf(absl::Duration* target, absl::Duration min, absl::Duration max,
                     absl::string_view examples) {
  return Setter(target,
                absl::StrCat("a duration such as ", examples, ", from ", absl::FormatDuration(min),
                             " to ", absl::FormatDuration(max)),
                [=](absl::string_view value, absl::Duration* duration) {
                  return absl::ParseDuration(value, duration) && *duration >= min &&
                         *duration <= max;
                });
}

ValueSetter SetterOf(std::string* target, const std::vector<std::string>& choices,
                     absl::string_view separator) {
  return Setter(target, absl::StrCat("one of ", absl::StrJoin(choices, separator)),
                [choices](absl::string_view value, std::string* choice) {
                  *choice = std::string(value);
                  return absl::c_linear_search(choices, *choice);
                });
}

OptionSet::OptionSet(absl::string_view program, absl::string_view summary)
    : program_(program), summary_(summary) {
  Add("config", &config_path_, "YAML file to read options from");
}

void OptionSet::AddCommand(absl::string_view name, absl::string_view help,
                           std::vector<std::string> arguments) {
  commands_.push_back({std::string(name), std::string(help), std::move(arguments)});
}

std::string OptionSet::Command::Usage() const {
  return absl::StrCat(name, arguments.empty() ? "" : " ", absl::StrJoin(arguments, " "));
}

const OptionSet::Command* OptionSet::FindCommand(absl::string_view name) const {
  const auto found =
      absl::c_find_if(commands_, [name](const Command& command) { return command.name == name; });
  return found == commands_.end() ? nullptr : &*found;
}

void OptionSet::AddOption(Option option) {
  if (Find(option.name) != nullptr) {
    std::fprintf(stderr, "option --%s was added twice\n", option.name.c_str());
    std::abort();
  }
  options_.push_back(std::move(option));
}

void OptionSet::Add(absl::string_view name, std::string* target, absl::string_view help) {
  AddOption(
      {std::string(name), "TEXT", std::string(help), *target, [target](absl::string_view value) {
         *target = std::string(value);
         return absl::OkStatus();
       }});
}

void OptionSet::Add(absl::string_view name, bool* target, absl::string_view help) {
  AddOption(
      {std::string(name), "", std::string(help), *target ? "true" : "false", SetterOf(target)});
}

void OptionSet::Add(absl::string_view name, Address* target, absl::string_view help) {
  AddOption(
      {std::string(name), "HOST:PORT", std::string(help), target->ToString(), SetterOf(target)});
}

void OptionSet::Add(absl::string_view name, std::vector<Address>* target, absl::string_view help) {
  const std::string before = absl::StrJoin(
      *target, ",",
      [](std::string* out, const Address& address) { absl::StrAppend(out, address.ToString()); });
  AddOption({std::string(name), "HOST:PORT,…", std::string(help), before,
             [target](absl::string_view value) {
               target->clear();
               for (absl::string_view item : absl::StrSplit(value, ',', absl::SkipWhitespace())) {
                 ASSIGN_OR_RETURN(Address address, ParseAddress(absl::StripAsciiWhitespace(item)));
                 target->push_back(std::move(address));
               }
               if (target->empty()) return absl::InvalidArgumentError("write one at least");
               return absl::OkStatus();
             }});
}

void OptionSet::Add(absl::string_view name, int* target, int min, int max, absl::string_view help) {
  AddOption({std::string(name), "N", std::string(help), absl::StrCat(*target),
             SetterOf(target, min, max)});
}

void OptionSet::Add(absl::string_view name, absl::Duration* target, absl::Duration min,
                    absl::Duration max, absl::string_view help) {
  AddOption({std::string(name), "DURATION", std::string(help), absl::FormatDuration(*target),
             SetterOf(target, min, max, "250ms or 10s")});
}

void OptionSet::AddBytes(absl::string_view name, int64_t* target, int64_t min, int64_t max,
                         absl::string_view help) {
  AddOption({std::string(name), "BYTES", std::string(help), FormatBytes(*target),
             [target, min, max](absl::string_view value) {
               const std::optional<int64_t> bytes = ParseBytes(value);
               if (!bytes.has_value() || *bytes < min || *bytes > max) {
                 return absl::InvalidArgumentError(
                     absl::StrCat("write a number with MiB or GiB, from ", FormatBytes(min), " to ",
                                  FormatBytes(max)));
               }
               *target = *bytes;
               return absl::OkStatus();
             }});
}

void OptionSet::Add(absl::string_view name, std::vector<std::string>* target,
                    absl::string_view help) {
  AddOption({std::string(name), "A,B,…", std::string(help), absl::StrJoin(*target, ","),
             [target](absl::string_view value) {
               target->clear();
               for (absl::string_view item : absl::StrSplit(value, ',', absl::SkipWhitespace())) {
                 target->emplace_back(absl::StripAsciiWhitespace(item));
               }
               return absl::OkStatus();
             }});
}

void OptionSet::AddChoice(absl::string_view name, std::string* target,
                          const std::vector<std::string>& choices, absl::string_view help) {
  AddOption({std::string(name), absl::StrJoin(choices, "|"), std::string(help), *target,
             SetterOf(target, choices, "|")});
}

const OptionSet::Option* OptionSet::Find(absl::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

absl::Status OptionSet::Set(const Option& option, absl::string_view value,
                            absl::string_view origin) const {
  absl::Status status = option.set(value);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("bad value \"", value, "\" for ", origin, ": ", status.message()));
}

absl::Status OptionSet::ReadFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<Setting> settings, ReadYaml(path));
  for (const auto& [name, value] : settings) {
    const std::string key = absl::StrReplaceAll(name, {{"-", "_"}});
    const Option* option = Find(name);
    if (option == nullptr || name == "config") {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown key \"", key, "\" in ", path, "; see ", program_, " --help"));
    }
    RETURN_IF_ERROR(Set(*option, value, absl::StrCat("key \"", key, "\" in ", path)));
  }
  return absl::OkStatus();
}

absl::Status OptionSet::ReadEnvironment(const Environment& environment) {
  for (const Option& option : options_) {
    const std::string name = EnvironmentName(option.name);
    if (const char* value = environment(name.c_str()); value != nullptr) {
      RETURN_IF_ERROR(Set(option, value, name));
    }
  }
  return absl::OkStatus();
}

absl::Status OptionSet::TakeWord(absl::string_view word, Parsed& parsed) const {
  const Command* command = FindCommand(parsed.command);
  if (command == nullptr && FindCommand(word) != nullptr) {
    parsed.command = std::string(word);
  } else if (command != nullptr && parsed.arguments.size() < command->arguments.size()) {
    parsed.arguments.emplace_back(word);
  } else if (command != nullptr && !command->arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", word, "\" after ", command->name, ", which has ",
                     command->arguments.size(), ": put a text with spaces in quotes; see ",
                     program_, " --help"));
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", word, "\"; see ", program_, " --help"));
  }
  return absl::OkStatus();
}

absl::Status OptionSet::CheckArguments(const Parsed& parsed) const {
  const Command* command = FindCommand(parsed.command);
  if (command == nullptr || parsed.arguments.size() >= command->arguments.size()) {
    return absl::OkStatus();
  }
  const std::string& missing = command->arguments[parsed.arguments.size()];
  if (absl::StartsWith(missing, "[")) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(command->name, " needs ", missing, ": ", program_,
                                                 " ", command->Usage(), " [--FLAG VALUE]..."));
}

absl::StatusOr<OptionSet::Parsed> OptionSet::Parse(const std::vector<std::string>& arguments,
                                                   const Environment& environment) {
  // The flags are read first, since one of them names the file, and applied last.
  Parsed parsed;
  std::vector<std::pair<const Option*, std::string>> flags;
  bool only_words = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (!only_words && (argument == "--help" || argument == "-h")) {
      parsed.action = Parsed::Action::kShowHelp;
      return parsed;
    }
    if (!only_words && argument == "--version") {
      parsed.action = Parsed::Action::kShowVersion;
      return parsed;
    }
    if (only_words || !absl::ConsumePrefix(&argument, "--")) {
      RETURN_IF_ERROR(TakeWord(argument, parsed));
      continue;
    }
    if (argument.empty()) {
      only_words = true;
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const Option* option = Find(parts.first);
    if (option == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag --", parts.first, "; see ", program_, " --help"));
    }
    if (absl::StrContains(argument, '=')) {
      flags.emplace_back(option, std::string(parts.second));
    } else if (option->value_name.empty()) {
      flags.emplace_back(option, "true");
    } else if (i + 1 < arguments.size()) {
      flags.emplace_back(option, arguments[++i]);
    } else {
      return absl::InvalidArgumentError(absl::StrCat("flag --", parts.first, " needs a value"));
    }
  }

  RETURN_IF_ERROR(CheckArguments(parsed));

  if (const char* path = environment("CALLSLIP_CONFIG"); path != nullptr) config_path_ = path;
  for (const auto& [option, value] : flags) {
    if (option->name == "config") config_path_ = value;
  }
  if (!config_path_.empty()) RETURN_IF_ERROR(ReadFile(config_path_));
  RETURN_IF_ERROR(ReadEnvironment(environment));
  for (const auto& [option, value] : flags) {
    RETURN_IF_ERROR(Set(*option, value, absl::StrCat("--", option->name)));
  }
  return parsed;
}

OptionSet::Parsed OptionSet::ParseOrExit(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const absl::StatusOr<Parsed> parsed =
      Parse(arguments, [](const char* name) { return std::getenv(name); });
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s: %s\n", program_.c_str(),
                 std::string(parsed.status().message()).c_str());
    std::exit(2);
  }
  if (parsed->action == Parsed::Action::kShowHelp) {
    std::fputs(HelpText().c_str(), stdout);
    std::exit(0);
  }
  if (parsed->action == Parsed::Action::kShowVersion) {
    std::printf("%s %s\n", program_.c_str(), kVersion);
    std::exit(0);
  }
  return *parsed;
}

std::string OptionSet::HelpText() const {
  std::string text = absl::StrCat(program_, ": ", summary_, "\n\nUsage: ", program_);
  for (const Command& command : commands_) absl::StrAppend(&text, " [", command.Usage(), "]");
  absl::StrAppend(&text, " [--FLAG VALUE]...\n");
  if (!commands_.empty()) absl::StrAppend(&text, "\nCommands:\n");
  size_t width = 12;
  for (const Command& command : commands_) width = std::max(width, command.Usage().size());
  for (const Command& command : commands_) {
    absl::StrAppendFormat(&text, "  %-*s %s\n", static_cast<int>(width), command.Usage(),
                          command.help);
  }
  absl::StrAppend(&text, "\nOptions (flag > environment > YAML file > default):\n");
  for (const Option& option : options_) {
    absl::StrAppend(&text, "  --", option.name, option.value_name.empty() ? "" : " ",
                    option.value_name, "\n      ", option.help, ".");
    if (!option.default_text.empty())
      absl::StrAppend(&text, " Default: ", option.default_text, ".");
    absl::StrAppend(&text, " [", EnvironmentName(option.name), "]\n");
  }
  absl::StrAppend(&text, "  --help, --version\n");
  return text;
}

}  // namespace callslip
