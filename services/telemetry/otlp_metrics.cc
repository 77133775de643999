#include "telemetry/otlp_metrics.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "telemetry/otlp_encoding.h"
#include "telemetry/otlp_fields.h"

namespace callslip {
namespace {

constexpr double kNanosPerSecond = 1e9;

// Units from the Unified Code for Units of Measure, as OpenTelemetry requires.
absl::string_view UnitOf(absl::string_view name) {
  absl::ConsumeSuffix(&name, "_total");
  if (absl::EndsWith(name, "_seconds")) return "s";
  return absl::EndsWith(name, "_bytes") ? "By" : "";
}

void WriteLabels(int field, const MetricLabels& labels, FieldWriter& fields) {
  for (const auto& [label, value] : labels) WriteAttribute(field, label, value, fields);
}

// NumberDataPoint: start_time_unix_nano = 2, time_unix_nano = 3, as_double = 4, attributes = 7.
std::string EncodeNumber(const MetricPoint& point, const MetricTimes& times, bool is_sum) {
  std::string bytes;
  FieldWriter fields(&bytes);
  if (is_sum) fields.Fixed64(2, times.start_nanos);
  fields.Fixed64(3, times.now_nanos);
  fields.Double(4, point.value);
  WriteLabels(7, point.labels, fields);
  return bytes;
}

// Exemplar: time_unix_nano = 2, as_double = 3, span_id = 4, trace_id = 5.
std::string EncodeExemplar(const Exemplar& exemplar) {
  std::string bytes;
  FieldWriter fields(&bytes);
  fields.Fixed64(2, exemplar.unix_nanos);
  fields.Double(3, static_cast<double>(exemplar.nanos) / kNanosPerSecond);
  fields.Bytes(4, exemplar.trace.span_id());
  fields.Bytes(5, exemplar.trace.trace_id());
  return bytes;
}

// HistogramDataPoint: start_time_unix_nano = 2, time_unix_nano = 3, count = 4, sum = 5,
// bucket_counts = 6, explicit_bounds = 7, exemplars = 8, attributes = 9.
std::string EncodeHistogram(const MetricPoint& point, const MetricTimes& times) {
  const LatencyHistogram& histogram = point.histogram;
  std::string bytes;
  FieldWriter fields(&bytes);
  fields.Fixed64(2, times.start_nanos);
  fields.Fixed64(3, times.now_nanos);
  fields.Fixed64(4, histogram.count());
  fields.Double(5, static_cast<double>(histogram.sum_nanos) / kNanosPerSecond);
  fields.Message(6, histogram.counts.size() * sizeof(int64_t));
  for (const int64_t count : histogram.counts) fields.PackedFixed64(count);
  fields.Message(7, kLatencyBoundsNanos.size() * sizeof(double));
  for (const int64_t bound : kLatencyBoundsNanos) {
    fields.PackedDouble(static_cast<double>(bound) / kNanosPerSecond);
  }
  for (const Exemplar& exemplar : histogram.exemplars) {
    if (!exemplar.trace.empty()) fields.AlwaysBytes(8, EncodeExemplar(exemplar));
  }
  WriteLabels(9, point.labels, fields);
  return bytes;
}

// Gauge, Sum and Histogram: data_points = 1. Sum and Histogram: aggregation_temporality = 2, where
// 2 is cumulative. Sum: is_monotonic = 3.
std::string EncodePoints(const MetricFamily& family, const MetricTimes& times) {
  std::string bytes;
  FieldWriter fields(&bytes);
  for (const MetricPoint& point : family.points) {
    fields.AlwaysBytes(1, family.type == MetricType::kHistogram
                              ? EncodeHistogram(point, times)
                              : EncodeNumber(point, times, family.type == MetricType::kCounter));
  }
  if (family.type != MetricType::kGauge) fields.AlwaysVarint(2, 2);
  if (family.type == MetricType::kCounter) fields.AlwaysVarint(3, 1);
  return bytes;
}

// Metric: gauge = 5, sum = 7, histogram = 9.
int FieldOf(MetricType type) {
  switch (type) {
    case MetricType::kGauge: return 5;
    case MetricType::kCounter: return 7;
    case MetricType::kHistogram: return 9;
  }
  return 0;
}

// Metric: name = 1, description = 2, unit = 3.
std::string EncodeFamily(const MetricFamily& family, const MetricTimes& times) {
  std::string bytes;
  FieldWriter fields(&bytes);
  fields.Bytes(1, family.name);
  fields.Bytes(2, family.help);
  fields.Bytes(3, UnitOf(family.name));
  fields.AlwaysBytes(FieldOf(family.type), EncodePoints(family, times));
  return bytes;
}

}  // namespace

std::string EncodeMetrics(absl::string_view resource, const std::vector<MetricFamily>& families,
                          const MetricTimes& times) {
  std::vector<std::string> encoded;
  encoded.reserve(families.size());
  for (const MetricFamily& family : families) encoded.push_back(EncodeFamily(family, times));
  return EncodeRequest(resource, encoded);
}

}  // namespace callslip
