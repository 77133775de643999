#include "common/metrics_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace callslip {
namespace {

constexpr double kNanosPerSecond = 1e9;

// The shortest text for exactly this number.
std::string NumberText(double value) {
  // Larger doubles may skip odd integers.
  constexpr double kLargestInteger = 1e15;
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::trunc(value) == value && std::abs(value) < kLargestInteger) {
    return absl::StrCat(static_cast<int64_t>(value));
  }
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

absl::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kHistogram: return "histogram";
  }
  return "";
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", R"(\\)"}, {"\n", R"(\n)"}, {"\"", R"(\")"}});
}

// Writes families in one of the two formats, which differ in counter names, bounds and the end of a
// page.
class TextWriter {
 public:
  explicit TextWriter(bool is_open) : is_open_(is_open) {}

  void Add(const MetricFamily& family) {
    absl::string_view name = family.name;
    if (is_open_ && family.type == MetricType::kCounter) absl::ConsumeSuffix(&name, "_total");
    // Only OpenMetrics escapes quotes in help texts.
    const std::string help =
        is_open_ ? Escaped(family.help)
                 : absl::StrReplaceAll(family.help, {{"\\", R"(\\)"}, {"\n", R"(\n)"}});
    absl::StrAppend(&out_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ",
                    TypeName(family.type), "\n");
    for (const MetricPoint& point : family.points) {
      if (family.type == MetricType::kHistogram) {
        AddHistogram(family.name, point);
      } else {
        AddSample(family.name, point.labels, NumberText(point.value));
      }
    }
  }

  std::string Take() && {
    if (is_open_) absl::StrAppend(&out_, "# EOF\n");
    return std::move(out_);
  }

 private:
  void AddSample(absl::string_view name, const MetricLabels& labels, absl::string_view value) {
    out_.append(name.data(), name.size());
    absl::string_view before = "{";
    for (const auto& [label, text] : labels) {
      absl::StrAppend(&out_, before, label, "=\"", Escaped(text), "\"");
      before = ",";
    }
    absl::StrAppend(&out_, labels.empty() ? " " : "} ", value, "\n");
  }

  void AddHistogram(const std::string& name, const MetricPoint& point) {
    const LatencyHistogram& histogram = point.histogram;
    MetricLabels labels = point.labels;
    labels.emplace_back("le", "");
    int64_t below = 0;
    for (size_t i = 0; i < LatencyHistogram::kBuckets; ++i) {
      below += histogram.counts[i];
      labels.back().second = BoundText(i);
      AddSample(name + "_bucket", labels, absl::StrCat(below, ExemplarText(histogram, i)));
    }
    AddSample(name + "_sum", point.labels,
              NumberText(static_cast<double>(histogram.sum_nanos) / kNanosPerSecond));
    AddSample(name + "_count", point.labels, absl::StrCat(below));
  }

  // The text after a bucket's value. Only OpenMetrics has exemplars.
  std::string ExemplarText(const LatencyHistogram& histogram, size_t bucket) const {
    if (!is_open_ || histogram.exemplars.empty()) return "";
    const Exemplar& exemplar = histogram.exemplars[bucket];
    if (exemplar.trace.empty()) return "";
    return absl::StrCat(" # {trace_id=\"", absl::BytesToHexString(exemplar.trace.trace_id()),
                        "\",span_id=\"", absl::BytesToHexString(exemplar.trace.span_id()), "\"} ",
                        NumberText(static_cast<double>(exemplar.nanos) / kNanosPerSecond),
                        absl::StrFormat(" %d.%03d", exemplar.unix_nanos / 1'000'000'000,
                                        exemplar.unix_nanos / 1'000'000 % 1000));
  }

  // A bound is a label, and so text: the formats write 1.0 (OpenMetrics) and 1, and that must not
  // change.
  std::string BoundText(size_t bucket) const {
    if (bucket == kLatencyBoundsNanos.size()) return "+Inf";
    const double bound = static_cast<double>(kLatencyBoundsNanos[bucket]) / kNanosPerSecond;
    char text[32];
    const std::string fixed(
        text, std::to_chars(text, text + sizeof(text), bound, std::chars_format::fixed).ptr);
    return is_open_ && !absl::StrContains(fixed, '.') ? fixed + ".0" : fixed;
  }

  const bool is_open_;
  std::string out_;
};

std::string Write(const MetricsPage& page, bool is_open) {
  TextWriter writer(is_open);
  for (const MetricFamily& family : page.families()) writer.Add(family);
  return std::move(writer).Take();
}

// The quality that `accept` gives to exactly this type, from 0 to 1.
double QualityOf(absl::string_view type, absl::string_view accept) {
  double best = 0;
  for (const absl::string_view range : absl::StrSplit(accept, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(range, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), type)) continue;
    double quality = 1;
    for (absl::string_view part : parts) {
      part = absl::StripAsciiWhitespace(part);
      if (absl::ConsumePrefix(&part, "q=") && !absl::SimpleAtod(part, &quality)) quality = 0;
    }
    best = std::max(best, quality);
  }
  return best;
}

}  // namespace

std::string PlainMetricsText(const MetricsPage& page) { return Write(page, /*is_open=*/false); }

std::string OpenMetricsText(const MetricsPage& page) { return Write(page, /*is_open=*/true); }

MetricsAnswer AnswerScrape(const MetricsPage& page, absl::string_view accept) {
  const double open = QualityOf("application/openmetrics-text", accept);
  if (open > 0 && open >= QualityOf("text/plain", accept)) {
    return {"application/openmetrics-text; version=1.0.0; charset=utf-8", OpenMetricsText(page)};
  }
  return {"text/plain; version=0.0.4; charset=utf-8", PlainMetricsText(page)};
}

}  // namespace callslip
