#include "telemetry/telemetry_settings.h"

#include <fstream>
#include <map>

#include "common/status_matchers.h"
#include "common/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Variables = std::map<std::string, std::string>;

absl::StatusOr<TelemetrySettings> Read(absl::string_view endpoint, const Variables& variables) {
  return ReadTelemetrySettings(endpoint, "callslip-test", [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// Settings with an endpoint.
TelemetrySettings Settings(Variables variables) {
  variables.try_emplace("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
  const auto settings = Read("", variables);
  EXPECT_TRUE(settings.ok() && settings->spans.has_value());
  return *settings;
}

TEST(TelemetrySettingsTest, NothingIsRecordedWithoutEndpoint) {
  const Variables kTable[] = {
      {},
      {{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}, {"OTEL_TRACES_SAMPLER", "sometimes"}},
      {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"}, {"OTEL_SDK_DISABLED", "true"}},
      {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"},
       {"OTEL_TRACES_EXPORTER", "none"},
       {"OTEL_METRICS_EXPORTER", "none"}},
  };
  for (const Variables& variables : kTable) {
    const auto settings = Read("", variables);
    ASSERT_OK(settings);
    EXPECT_FALSE(settings->spans.has_value());
    EXPECT_FALSE(settings->metrics.has_value());
    EXPECT_THAT(settings->ignored, IsEmpty());
  }
}

TEST(TelemetrySettingsTest, EachSignalIsTurnedOffSeparately) {
  EXPECT_FALSE(Settings({{"OTEL_METRICS_EXPORTER", "none"}}).metrics.has_value());
  // They are at GET /metrics anyway.
  EXPECT_FALSE(Settings({{"OTEL_METRICS_EXPORTER", "prometheus"}}).metrics.has_value());
  EXPECT_TRUE(Settings({{"OTEL_METRICS_EXPORTER", "otlp"}}).metrics.has_value());
  const auto metrics = Read("http://a", {{"OTEL_TRACES_EXPORTER", "none"}});
  ASSERT_OK(metrics);
  EXPECT_FALSE(metrics->spans.has_value());
  EXPECT_TRUE(metrics->metrics.has_value());
  const auto spans = Read("", {{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a"}});
  ASSERT_OK(spans);
  EXPECT_TRUE(spans->spans.has_value());
  EXPECT_FALSE(spans->metrics.has_value());
}

TEST(TelemetrySettingsTest, EndpointSettingsFollowPrecedence) {
  const struct {
    const char* flag;
    Variables variables;
    const char* spans;
    const char* metrics;
  } kTable[] = {
      {"http://flag:1",
       {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://all"}},
       "http://flag:1/v1/traces",
       "http://flag:1/v1/metrics"},
      {"",
       {{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://all/base/"}},
       "https://all/base/v1/traces",
       "https://all/base/v1/metrics"},
      {"",
       {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://all"},
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:2/as/it/is"},
        {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://[::1]:2"}},
       "http://traces:2/as/it/is",
       "http://[::1]:2/"},
  };
  for (const auto& row : kTable) {
    const auto settings = Read(row.flag, row.variables);
    ASSERT_OK(settings);
    ASSERT_TRUE(settings->spans.has_value() && settings->metrics.has_value());
    EXPECT_EQ(settings->spans->origin + settings->spans->path, row.spans);
    EXPECT_EQ(settings->metrics->origin + settings->metrics->path, row.metrics);
    EXPECT_THAT(settings->ignored, IsEmpty());
  }
}

TEST(TelemetrySettingsTest, InvalidMetricsEndpointDoesNotAffectSpans) {
  const auto settings = Read("", {{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://spans"},
                                  {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "collector:4317"}});
  ASSERT_OK(settings);
  EXPECT_TRUE(settings->spans.has_value());
  EXPECT_FALSE(settings->metrics.has_value());
  EXPECT_THAT(std::string(settings->metrics_error.message()),
              HasSubstr("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"));
}

TEST(TelemetrySettingsTest, HeaderWithTabIsIgnored) {
  const auto settings = Read("http://all", {{"OTEL_EXPORTER_OTLP_HEADERS", "x=a%09b"}});
  ASSERT_OK(settings);
  EXPECT_TRUE(settings->spans->headers.empty());
  EXPECT_THAT(settings->ignored, ElementsAre("OTEL_EXPORTER_OTLP_HEADERS"));
}

TEST(TelemetrySettingsTest, InvalidEndpointErrorNamesOption) {
  for (const char* url : {"collector:4318", "ftp://a", "http://", "http:///path",
                          "http://user:hunter2@host", "http://a b", "http://a\r\nX: y",
                          "http://a:", "http://a:70000", "http://a?x=1", "http://a/b#c"}) {
    const auto settings = Read(url, {});
    EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(std::string(settings.status().message()), HasSubstr("--otlp-endpoint")) << url;
    EXPECT_THAT(std::string(settings.status().message()), Not(HasSubstr("hunter2")));
  }
}

TEST(TelemetrySettingsTest, ProtocolsHeadersAndTimesAreRead) {
  const TelemetrySettings settings = Settings({
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
      {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"},
      {"OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20abc, x-tenant = a"},
      {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-tenant=b"},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", "1500"},
      {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "2500"},
      {"OTEL_BSP_SCHEDULE_DELAY", "250"},
      {"OTEL_BSP_MAX_QUEUE_SIZE", "100"},
      {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "300"},
      {"OTEL_METRIC_EXPORT_INTERVAL", "1000"},
  });
  const OtlpTarget& spans = *settings.spans;
  EXPECT_EQ(spans.protocol, OtlpTarget::Protocol::kGrpc);
  EXPECT_EQ(spans.path, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
  EXPECT_THAT(spans.headers,
              ElementsAre(Pair("authorization", "Bearer abc"), Pair("x-tenant", "a")));
  EXPECT_EQ(spans.timeout, absl::Milliseconds(1500));
  EXPECT_EQ(settings.limits.delay, absl::Milliseconds(250));
  EXPECT_EQ(settings.limits.queue, 100u);
  EXPECT_EQ(settings.limits.batch, 100u);
  const OtlpTarget& metrics = *settings.metrics;
  EXPECT_EQ(metrics.protocol, OtlpTarget::Protocol::kHttp);
  EXPECT_EQ(metrics.path, "/v1/metrics");
  EXPECT_THAT(metrics.headers, ElementsAre(Pair("x-tenant", "b")));
  EXPECT_EQ(metrics.timeout, absl::Milliseconds(2500));
  EXPECT_EQ(settings.metric_interval, absl::Seconds(1));
  EXPECT_THAT(settings.ignored, IsEmpty());
}

TEST(TelemetrySettingsTest, TlsFilesAreRead) {
  const TemporaryFolder folder;
  Variables variables = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector"}};
  const auto file = [&](const std::string& variable) {
    const std::string path = absl::StrCat(folder.path(), "/", variable);
    std::ofstream(path) << "any";
    return variables[variable] = path;
  };
  const std::string authorities = file("OTEL_EXPORTER_OTLP_CERTIFICATE");
  const std::string certificate = file("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE");
  const std::string key = file("OTEL_EXPORTER_OTLP_CLIENT_KEY");
  const TlsFiles all = Settings(variables).spans->tls;
  EXPECT_EQ(all.authorities, authorities);
  EXPECT_EQ(all.certificate, certificate);
  EXPECT_EQ(all.key, key);
  // A key alone is of no use, and neither is a file that is not there.
  variables.erase("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE");
  variables["OTEL_EXPORTER_OTLP_CERTIFICATE"] = folder.path() + "/none";
  const TelemetrySettings settings = Settings(variables);
  EXPECT_EQ(settings.spans->tls.authorities + settings.spans->tls.key, "");
  EXPECT_THAT(settings.ignored, UnorderedElementsAre("OTEL_EXPORTER_OTLP_CERTIFICATE",
                                                     "OTEL_EXPORTER_OTLP_CLIENT_KEY"));
}

TEST(TelemetrySettingsTest, GrpcAcceptsHostAndPort) {
  const std::pair<Variables, const char*> kTable[] = {
      {{}, "https://collector:4317"},
      {{{"OTEL_EXPORTER_OTLP_INSECURE", "true"}}, "http://collector:4317"},
      {{{"OTEL_EXPORTER_OTLP_INSECURE", "true"}, {"OTEL_EXPORTER_OTLP_TRACES_INSECURE", "false"}},
       "https://collector:4317"},
  };
  for (const auto& [variables, origin] : kTable) {
    Variables all = variables;
    all["OTEL_EXPORTER_OTLP_ENDPOINT"] = "collector:4317";
    all["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc";
    const OtlpTarget target = *Settings(all).spans;
    EXPECT_EQ(target.origin, origin);
    EXPECT_EQ(target.path, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
  }
}

TEST(TelemetrySettingsTest, ResourceIsProgramByDefault) {
  const TelemetrySettings by_default = Settings({});
  EXPECT_THAT(by_default.resource, Contains(Pair("service.name", "callslip-test")));
  EXPECT_THAT(by_default.resource, Contains(Pair("service.version", kVersion)));
  const TelemetrySettings said = Settings({
      {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=a%2Cb"},
  });
  EXPECT_THAT(said.resource, Contains(Pair("service.name", "other")));
  EXPECT_THAT(said.resource, Contains(Pair("deployment.environment.name", "a,b")));
  const TelemetrySettings named =
      Settings({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=other"}, {"OTEL_SERVICE_NAME", "mine"}});
  EXPECT_THAT(named.resource, Contains(Pair("service.name", "mine")));
  EXPECT_THAT(named.resource, Not(Contains(Pair("service.name", "other"))));
}

TEST(TelemetrySettingsTest, InvalidVariablesAreReportedAndIgnored) {
  const std::pair<const char*, const char*> kTable[] = {
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
      {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "no value"},
      {"OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0aHost: evil"},
      {"OTEL_EXPORTER_OTLP_HEADERS", "a b=c"},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"},
      {"OTEL_TRACES_SAMPLER", "sometimes"},
      {"OTEL_TRACES_EXPORTER", "jaeger"},
      {"OTEL_METRICS_EXPORTER", "statsd"},
      {"OTEL_METRIC_EXPORT_INTERVAL", "often"},
      {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta"},
      {"OTEL_RESOURCE_ATTRIBUTES", "a=%zz"},
      {"OTEL_RESOURCE_ATTRIBUTES", "a=%ff"},
      {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
      {"OTEL_BSP_MAX_QUEUE_SIZE", "0"},
      {"OTEL_BSP_MAX_QUEUE_SIZE", "1000000000"},
      {"OTEL_BSP_SCHEDULE_DELAY", "-1"},
  };
  for (const auto& [name, value] : kTable) {
    const TelemetrySettings settings = Settings({{name, value}});
    EXPECT_THAT(settings.ignored, ElementsAre(name)) << value;
    EXPECT_THAT(settings.spans->headers, IsEmpty());
    EXPECT_EQ(settings.limits.queue, 2048u);
    EXPECT_EQ(settings.spans->timeout, absl::Seconds(10));
    EXPECT_EQ(settings.metric_interval, absl::Seconds(60));
  }
  const TelemetrySettings ratio =
      Settings({{"OTEL_TRACES_SAMPLER", "always_off"}, {"OTEL_TRACES_SAMPLER_ARG", "x"}});
  EXPECT_THAT(ratio.ignored, IsEmpty());
  const TelemetrySettings bad_ratio =
      Settings({{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "x"}});
  EXPECT_THAT(bad_ratio.ignored, ElementsAre("OTEL_TRACES_SAMPLER_ARG"));
  EXPECT_TRUE(bad_ratio.sampler.Samples({}, TraceContext::New()));
}

}  // namespace
}  // namespace callslip
