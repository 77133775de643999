#include "common/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/version.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace callslip {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kNanosPerSecond = 1e9;

std::string FileText(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The fields of /proc/self/stat from the third on, which follow the program's name (proc(5)).
std::vector<std::string> StatFields() {
  const std::string stat = FileText("/proc/self/stat");
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return {};
  return absl::StrSplit(stat.substr(name_end + 2), ' ');
}

double FieldOf(const std::vector<std::string>& fields, size_t number) {
  constexpr size_t kFirst = 3;
  double value = 0;
  if (number - kFirst < fields.size()) (void)absl::SimpleAtod(fields[number - kFirst], &value);
  return value;
}

// When the machine started, in seconds since 1970.
double BootTime() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double seconds = 0;
  while (stat >> word) {
    if (word == "btime" && stat >> seconds) break;
  }
  return seconds;
}

double OpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return 0;
  // Without the one that looks.
  return static_cast<double>(std::distance(begin(files), end(files))) - 1;
}

double MaxFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

struct MetricsPage::Families {
  // The labels are those of the metric that is returned.
  ClientMetric& Add(const std::string& name, const std::string& help, MetricType type,
                    const MetricLabels& labels) {
    if (all.empty() || all.back().name != name) all.push_back({name, help, type, {}});
    ClientMetric& metric = all.back().metric.emplace_back();
    for (const auto& [label, value] : labels) metric.label.push_back({label, value});
    return metric;
  }

  std::vector<MetricFamily> all;
};

MetricsPage::MetricsPage() : families_(std::make_unique<Families>()) {}

MetricsPage::~MetricsPage() = default;

void MetricsPage::Counter(const std::string& name, const std::string& help, double value,
                          const MetricLabels& labels) {
  families_->Add(name, help, MetricType::Counter, labels).counter.value = value;
}

void MetricsPage::Gauge(const std::string& name, const std::string& help, double value,
                        const MetricLabels& labels) {
  families_->Add(name, help, MetricType::Gauge, labels).gauge.value = value;
}

void MetricsPage::Histogram(const std::string& name, const std::string& help,
                            const LatencyHistogram& histogram, const MetricLabels& labels) {
  ClientMetric::Histogram& out =
      families_->Add(name, help, MetricType::Histogram, labels).histogram;
  uint64_t cumulative = 0;
  for (size_t i = 0; i < LatencyHistogram::kBuckets; ++i) {
    cumulative += static_cast<uint64_t>(histogram.counts[i]);
    const bool last = i == kLatencyBoundsNanos.size();
    const double bound = last ? std::numeric_limits<double>::infinity()
                              : static_cast<double>(kLatencyBoundsNanos[i]) / kNanosPerSecond;
    out.bucket.push_back({cumulative, bound});
  }
  out.sample_count = cumulative;
  out.sample_sum = static_cast<double>(histogram.sum_nanos) / kNanosPerSecond;
}

void MetricsPage::Process() {
  // Numbered as in proc(5).
  constexpr size_t kUserTicks = 14;
  constexpr size_t kSystemTicks = 15;
  constexpr size_t kThreads = 20;
  constexpr size_t kStartTicks = 22;
  constexpr size_t kVirtualBytes = 23;
  constexpr size_t kResidentPages = 24;
  const std::vector<std::string> stat = StatFields();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  Counter("process_cpu_seconds_total", "Processor time spent, of the user and of the system.",
          (FieldOf(stat, kUserTicks) + FieldOf(stat, kSystemTicks)) / ticks);
  Gauge("process_resident_memory_bytes", "Memory in use.",
        FieldOf(stat, kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  Gauge("process_virtual_memory_bytes", "Address space in use.", FieldOf(stat, kVirtualBytes));
  Gauge("process_threads", "Threads.", FieldOf(stat, kThreads));
  Gauge("process_open_fds", "Open file descriptors.", OpenFiles());
  Gauge("process_max_fds", "How many file descriptors may be open.", MaxFiles());
  Gauge("process_start_time_seconds", "When the process started, in seconds since 1970.",
        BootTime() + FieldOf(stat, kStartTicks) / ticks);
  Gauge("callslip_build_info", "Always 1; the version is a label.", 1, {{"version", kVersion}});
}

std::string MetricsPage::Text() const {
  std::ostringstream out;
  // As numbers are written in the format, whatever the process has set.
  out.imbue(std::locale::classic());
  prometheus::TextSerializer().Serialize(out, families_->all);
  return std::move(out).str();
}

}  // namespace callslip
