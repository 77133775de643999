#include "telemetry/telemetry_settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "common/version.h"

namespace callslip {
namespace {

// What differs between the two signals.
struct Signal {
  const char* name;  // In the names of variables.
  const char* http_path;
  const char* grpc_method;
};
constexpr Signal kTraces = {
    .name = "TRACES",
    .http_path = "/v1/traces",
    .grpc_method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"};
constexpr Signal kMetrics = {
    .name = "METRICS",
    .http_path = "/v1/metrics",
    .grpc_method = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"};

// Decodes each %XX to its byte. Nullopt if malformed.
std::optional<std::string> PercentDecode(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const absl::string_view digits = text.substr(i + 1, 2);
    if (digits.size() < 2 || !absl::ascii_isxdigit(digits[0]) || !absl::ascii_isxdigit(digits[1])) {
      return std::nullopt;
    }
    decoded.append(absl::HexStringToBytes(digits));
    i += 2;
  }
  return decoded;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Parses `key=value,key=value` in the form of W3C Baggage, without properties. Nullopt if
// malformed.
std::optional<Pairs> ReadPairs(absl::string_view text) {
  Pairs pairs;
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    const absl::string_view key = absl::StripAsciiWhitespace(parts.first);
    const auto value = PercentDecode(absl::StripAsciiWhitespace(parts.second));
    if (key.empty() || !absl::StrContains(entry, '=') || !value.has_value()) return std::nullopt;
    // A text that is not UTF-8 can make a collector refuse every request.
    if (!IsUtf8(key) || !IsUtf8(*value)) return std::nullopt;
    pairs.emplace_back(std::string(key), *value);
  }
  return pairs;
}

// Rejects characters that could end a header or inject one, and tabs, on which gRPC aborts the
// process.
bool IsHeader(const std::pair<std::string, std::string>& header) {
  const auto is_of_name = [](char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  };
  return std::all_of(header.first.begin(), header.first.end(), is_of_name) &&
         std::all_of(header.second.begin(), header.second.end(),
                     [](char c) { return absl::ascii_isprint(c); });
}

// Reads the variables and notes those with invalid values.
class Reader {
 public:
  Reader(const TelemetryEnvironment& environment, TelemetrySettings* settings)
      : environment_(environment), settings_(settings) {}

  // Empty if it is not set, which is equivalent.
  absl::string_view Text(const std::string& name) const {
    const char* value = environment_(name.c_str());
    return value == nullptr ? absl::string_view() : absl::StripAsciiWhitespace(value);
  }
  // OTEL_EXPORTER_OTLP_TRACES_… takes precedence over OTEL_EXPORTER_OTLP_….
  absl::string_view Otlp(const Signal& signal, absl::string_view name) {
    otlp_name_ = absl::StrCat("OTEL_EXPORTER_OTLP_", signal.name, "_", name);
    if (Text(otlp_name_).empty()) otlp_name_ = absl::StrCat("OTEL_EXPORTER_OTLP_", name);
    return Text(otlp_name_);
  }
  // The variable that the last Otlp() used.
  const std::string& otlp_name() const { return otlp_name_; }

  // Adds it once, because both signals can read the same variable.
  void Ignore(absl::string_view name) {
    if (!absl::c_linear_search(settings_->ignored, name)) settings_->ignored.emplace_back(name);
  }

  // Reads a count from 1 to `most`.
  void Read(const std::string& name, size_t most, size_t& into) {
    uint64_t value = 0;
    if (Text(name).empty()) return;
    if (!absl::SimpleAtoi(Text(name), &value) || value < 1 || value > most) return Ignore(name);
    into = value;
  }
  // Reads milliseconds, up to an hour.
  void Read(const std::string& name, absl::Duration& into) {
    size_t ms = 0;
    Read(name, 3'600'000, ms);
    if (ms > 0) into = absl::Milliseconds(ms);
  }
  // Appends pairs.
  void Read(const std::string& name, absl::string_view text, Pairs& into) {
    const std::optional<Pairs> pairs = ReadPairs(text);
    if (!pairs.has_value()) return Ignore(name);
    into.insert(into.end(), pairs->begin(), pairs->end());
  }

 private:
  const TelemetryEnvironment& environment_;
  TelemetrySettings* const settings_;
  std::string otlp_name_;
};

// `other` is a known exporter that does not use OTLP; empty: none.
bool IsExported(Reader& reader, const Signal& signal, absl::string_view other) {
  const std::string variable = absl::StrCat("OTEL_", signal.name, "_EXPORTER");
  const absl::string_view exporter = reader.Text(variable);
  if (exporter == "none" || (!exporter.empty() && exporter == other)) return false;
  if (!exporter.empty() && exporter != "otlp") reader.Ignore(variable);
  return true;
}

void ReadProtocol(Reader& reader, const Signal& signal, OtlpTarget& target) {
  const absl::string_view protocol = reader.Otlp(signal, "PROTOCOL");
  if (protocol == "grpc") {
    target.protocol = OtlpTarget::Protocol::kGrpc;
    target.path = signal.grpc_method;
  } else if (!protocol.empty() && protocol != "http/protobuf") {
    reader.Ignore(reader.otlp_name());
  }
}

// The part of a URL after its scheme is HOST[:PORT][/PATH].
bool IsAuthority(absl::string_view host) {
  if (host.empty() || absl::StrContains(host, '@')) return false;
  const size_t bracket = host.rfind(']');
  const size_t colon = host.find(':', bracket == absl::string_view::npos ? 0 : bracket);
  int port = 0;
  return colon == absl::string_view::npos ||
         (absl::SimpleAtoi(host.substr(colon + 1), &port) && port >= 1 && port <= 65535);
}

// Splits a URL. `added` is appended to its path.
absl::Status ReadUrl(absl::string_view name, absl::string_view url, absl::string_view added,
                     OtlpTarget& target) {
  absl::string_view rest = url;
  const bool is_tls = absl::ConsumePrefix(&rest, "https://");
  if (!is_tls && !absl::ConsumePrefix(&rest, "http://")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is not a URL: write http://HOST:PORT or https://HOST:PORT"));
  }
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  const absl::string_view host = rest.substr(0, slash);
  const bool is_plain = std::all_of(url.begin(), url.end(), absl::ascii_isgraph);
  if (!IsAuthority(host) || !is_plain || rest.find_first_of("?#") != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        " is not a host with a port and a path: write http://HOST:PORT or https://HOST:PORT; "
        "secrets go into OTEL_EXPORTER_OTLP_HEADERS"));
  }
  target.origin = absl::StrCat(is_tls ? "https://" : "http://", host);
  const absl::string_view path = rest.substr(slash);
  target.path = !added.empty() ? absl::StrCat(absl::StripSuffix(path, "/"), added)
                : path.empty() ? "/"
                               : std::string(path);
  return absl::OkStatus();
}

// Leaves the origin empty if no endpoint is named.
absl::Status ReadEndpoint(Reader& reader, const Signal& signal, absl::string_view flag,
                          OtlpTarget& target) {
  if (!flag.empty()) return ReadUrl("--otlp-endpoint", flag, signal.http_path, target);
  const absl::string_view url = reader.Otlp(signal, "ENDPOINT");
  if (url.empty()) return absl::OkStatus();
  const std::string name = reader.otlp_name();
  const bool is_common = name == "OTEL_EXPORTER_OTLP_ENDPOINT";
  if (target.protocol == OtlpTarget::Protocol::kGrpc && !absl::StrContains(url, "://")) {
    // Many SDKs take HOST:PORT for gRPC, and a variable that says whether that is without TLS.
    const bool insecure = absl::EqualsIgnoreCase(reader.Otlp(signal, "INSECURE"), "true");
    return ReadUrl(name, absl::StrCat(insecure ? "http://" : "https://", url), "", target);
  }
  return ReadUrl(name, url, is_common ? signal.http_path : "", target);
}

void ReadHeaders(Reader& reader, const Signal& signal, OtlpTarget& target) {
  const absl::string_view text = reader.Otlp(signal, "HEADERS");
  Pairs headers;
  reader.Read(reader.otlp_name(), text, headers);
  if (!std::all_of(headers.begin(), headers.end(), IsHeader)) {
    return reader.Ignore(reader.otlp_name());
  }
  for (auto& [name, value] : headers) {
    target.headers.emplace_back(absl::AsciiStrToLower(name), std::move(value));
  }
}

// A file that cannot be read is an invalid value.
std::string ReadableFile(Reader& reader, const Signal& signal, absl::string_view name) {
  const std::string path(reader.Otlp(signal, name));
  if (path.empty() || access(path.c_str(), R_OK) == 0) return path;
  reader.Ignore(reader.otlp_name());
  return "";
}

void ReadTls(Reader& reader, const Signal& signal, OtlpTarget& target) {
  if (!absl::StartsWith(target.origin, "https:")) return;
  target.tls = {.certificate = ReadableFile(reader, signal, "CLIENT_CERTIFICATE"),
                .key = ReadableFile(reader, signal, "CLIENT_KEY"),
                .authorities = ReadableFile(reader, signal, "CERTIFICATE")};
  if (target.tls.certificate.empty() == target.tls.key.empty()) return;
  reader.Ignore(
      absl::StrCat("OTEL_EXPORTER_OTLP_CLIENT_", target.tls.key.empty() ? "CERTIFICATE" : "KEY"));
  target.tls.certificate = target.tls.key = "";
}

// Requests are not compressed.
void ReadCompression(Reader& reader, const Signal& signal) {
  const absl::string_view compression = reader.Otlp(signal, "COMPRESSION");
  if (!compression.empty() && compression != "none") reader.Ignore(reader.otlp_name());
}

absl::StatusOr<std::optional<OtlpTarget>> ReadTarget(Reader& reader, const Signal& signal,
                                                     absl::string_view flag) {
  OtlpTarget target;
  // Without an endpoint, none of the other variables matters.
  if (flag.empty() && reader.Otlp(signal, "ENDPOINT").empty()) return std::nullopt;
  ReadProtocol(reader, signal, target);
  const std::string method = target.path;
  RETURN_IF_ERROR(ReadEndpoint(reader, signal, flag, target));
  if (!method.empty()) target.path = method;
  ReadHeaders(reader, signal, target);
  ReadTls(reader, signal, target);
  ReadCompression(reader, signal);
  reader.Otlp(signal, "TIMEOUT");
  reader.Read(reader.otlp_name(), target.timeout);
  return target;
}

void ReadSampler(Reader& reader, TelemetrySettings& settings) {
  const absl::string_view name = reader.Text("OTEL_TRACES_SAMPLER");
  if (name.empty()) return;
  const absl::string_view argument = reader.Text("OTEL_TRACES_SAMPLER_ARG");
  std::optional<Sampler> sampler = Sampler::Of(name, argument);
  if (!sampler.has_value()) {
    // Perhaps only its argument is invalid.
    sampler = Sampler::Of(name, "");
    reader.Ignore(sampler.has_value() ? "OTEL_TRACES_SAMPLER_ARG" : "OTEL_TRACES_SAMPLER");
  }
  settings.sampler = sampler.value_or(Sampler());
}

void ReadResource(Reader& reader, absl::string_view program, TelemetrySettings& settings) {
  Pairs given;
  constexpr char kName[] = "OTEL_RESOURCE_ATTRIBUTES";
  reader.Read(kName, reader.Text(kName), given);
  const absl::string_view service = reader.Text("OTEL_SERVICE_NAME");
  ResourceAttributes& resource = settings.resource;
  const auto set = [&resource](absl::string_view key, absl::string_view value) {
    for (auto& [known, old] : resource) {
      if (known == key) return void(old = std::string(value));
    }
    resource.emplace_back(std::string(key), std::string(value));
  };
  set("service.name", program);
  set("service.version", kVersion);
  set("service.instance.id", RandomHex128());
  for (const auto& [key, value] : given) set(key, value);
  if (!service.empty()) set("service.name", service);
  set("telemetry.sdk.name", "callslip");
  set("telemetry.sdk.language", "cpp");
  set("telemetry.sdk.version", kVersion);
}

void ReadLimits(Reader& reader, SpanLimits& limits) {
  // A span takes at most a kilobyte.
  constexpr size_t kMaxSpans = 100'000;
  reader.Read("OTEL_BSP_MAX_QUEUE_SIZE", kMaxSpans, limits.queue);
  reader.Read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", kMaxSpans, limits.batch);
  limits.batch = std::min(limits.batch, limits.queue);
  reader.Read("OTEL_BSP_SCHEDULE_DELAY", limits.delay);
}

// Only cumulative temporality is supported.
void ReadTemporality(Reader& reader) {
  constexpr char kName[] = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
  const absl::string_view preferred = reader.Text(kName);
  if (!preferred.empty() && !absl::EqualsIgnoreCase(preferred, "cumulative")) reader.Ignore(kName);
}

}  // namespace

absl::StatusOr<TelemetrySettings> ReadTelemetrySettings(absl::string_view endpoint,
                                                        absl::string_view program,
                                                        const TelemetryEnvironment& environment) {
  TelemetrySettings settings;
  Reader reader(environment, &settings);
  if (absl::EqualsIgnoreCase(reader.Text("OTEL_SDK_DISABLED"), "true")) return settings;
  if (IsExported(reader, kTraces, "")) {
    ASSIGN_OR_RETURN(settings.spans, ReadTarget(reader, kTraces, endpoint));
  }
  if (IsExported(reader, kMetrics, "prometheus")) {
    auto target = ReadTarget(reader, kMetrics, endpoint);
    if (target.ok()) {
      settings.metrics = *std::move(target);
    } else {
      settings.metrics_error = target.status();
    }
  }
  if (settings.spans.has_value()) {
    ReadSampler(reader, settings);
    ReadLimits(reader, settings.limits);
  }
  if (settings.metrics.has_value()) {
    reader.Read("OTEL_METRIC_EXPORT_INTERVAL", settings.metric_interval);
    ReadTemporality(reader);
  }
  ReadResource(reader, program, settings);
  return settings;
}

}  // namespace callslip
