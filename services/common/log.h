#pragma once

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// Writes one JSON object per line to stderr: {"time","level","process","event", and the given
// fields}. stdout stays free because the bridge uses it for the protocol. Thread-safe. Payloads
// (scripts, results, tokens) are never logged; ids and codes are.

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogField {
  absl::string_view key;
  std::string value;
};

// `level_name` is a level's command-line name: debug, info, warning, error. Call it once, before
// the first Log(); nothing is written until then.
void InitLogging(absl::string_view process, absl::string_view level_name);

// Whether lines of this level are written. Use it before building expensive lines.
bool IsLogged(LogLevel level);

// `event` is a short constant phrase, so that lines of one kind can be found.
void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace callslip
