#ifndef CALLSLIP_COMMON_LOG_H_
#define CALLSLIP_COMMON_LOG_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// One JSON object a line on stderr: {"time","level","process","event", and the given fields}.
// stdout stays free: on the bridge it carries the protocol. Thread-safe. Payloads (scripts,
// results, tokens) are never logged; ids and codes are.

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogField {
  absl::string_view key;
  std::string value;
};

// The levels by their names on the command line: debug, info, warning, error.
// Called once, before the first Log(); until then nothing is written.
void InitLogging(absl::string_view process, absl::string_view level_name);

// Whether lines of this level are written: for those that are dear to make.
bool IsLogged(LogLevel level);

// `event` is a short constant phrase, so that lines of one kind can be found.
void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace callslip

#endif  // CALLSLIP_COMMON_LOG_H_
