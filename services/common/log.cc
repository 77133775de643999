#include "common/log.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text_scan.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace callslip {
namespace {

std::shared_ptr<spdlog::logger>& Logger() {
  static auto& logger = *new std::shared_ptr<spdlog::logger>();
  return logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

void AppendJsonString(std::string& out, absl::string_view bytes) {
  std::string mended;
  if (!IsUtf8(bytes)) mended = WithoutBadUtf8(bytes);
  out.push_back('"');
  for (const char c : mended.empty() ? bytes : mended) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", c);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

// The ids that OpenTelemetry's log tools expect next to a `traceparent`:
// 00-<trace_id>-<span_id>-<flags>.
void AppendTraceIds(std::string& members, absl::string_view traceparent) {
  if (traceparent.size() < 52) return;
  absl::StrAppend(&members, ",\"trace_id\":\"", traceparent.substr(3, 32), "\",\"span_id\":\"",
                  traceparent.substr(36, 16), "\"");
}

}  // namespace

void InitLogging(absl::string_view process, absl::string_view level_name) {
  auto logger = std::make_shared<spdlog::logger>(std::string(process),
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // The message is a list of JSON members that Log() has already escaped.
  logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","process":"%n",%v})",
                      spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::from_str(std::string(level_name)));
  logger->flush_on(spdlog::level::debug);
  Logger() = std::move(logger);
}

bool IsLogged(LogLevel level) {
  const auto& logger = Logger();
  return logger != nullptr && logger->should_log(ToSpdlog(level));
}

void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields) {
  if (!IsLogged(level)) return;
  std::string members = "\"event\":";
  AppendJsonString(members, event);
  for (const LogField& field : fields) {
    members.push_back(',');
    AppendJsonString(members, field.key);
    members.push_back(':');
    AppendJsonString(members, field.value);
    if (field.key == "traceparent") AppendTraceIds(members, field.value);
  }
  EscapeLineSeparators(members);
  Logger()->log(ToSpdlog(level), spdlog::string_view_t(members.data(), members.size()));
}

}  // namespace callslip
