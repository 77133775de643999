#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "common/metrics.h"

namespace callslip {

// The page in Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats).
std::string PlainMetricsText(const MetricsPage& page);
// The page in OpenMetrics 1.0 (prometheus.io/docs/specs/om/open_metrics_spec).
std::string OpenMetricsText(const MetricsPage& page);

struct MetricsAnswer {
  absl::string_view content_type;  // A literal.
  std::string body;
};

// The response to a scraper with that Accept header: OpenMetrics if the header names it and does
// not prefer plain text, else Prometheus' own format.
MetricsAnswer AnswerScrape(const MetricsPage& page, absl::string_view accept);

}  // namespace callslip
