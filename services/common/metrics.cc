#include "common/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/memory_release.h"
#include "common/version.h"

namespace callslip {
namespace {

std::string FileText(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The fields of /proc/self/stat from the third on, after the program's name (proc(5)).
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

// The start time of the process, in seconds since 1970.
double StartSeconds(const std::vector<std::string>& stat) {
  constexpr size_t kStartTicks = 22;
  return BootTime() + FieldOf(stat, kStartTicks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return 0;
  // Without the descriptor that reads the directory.
  return static_cast<double>(std::distance(begin(files), end(files))) - 1;
}

double MaxFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

void MetricsPage::Add(const std::string& name, const std::string& help, MetricType type,
                      MetricPoint point) {
  if (families_.empty() || families_.back().name != name) {
    families_.push_back({.name = name, .help = help, .type = type});
  }
  families_.back().points.push_back(std::move(point));
}

void MetricsPage::Counter(const std::string& name, const std::string& help, double value,
                          const MetricLabels& labels) {
  Add(name, help, MetricType::kCounter, {.labels = labels, .value = value});
}

void MetricsPage::Gauge(const std::string& name, const std::string& help, double value,
                        const MetricLabels& labels) {
  Add(name, help, MetricType::kGauge, {.labels = labels, .value = value});
}

void MetricsPage::Histogram(const std::string& name, const std::string& help,
                            const LatencyHistogram& histogram, const MetricLabels& labels) {
  Add(name, help, MetricType::kHistogram, {.labels = labels, .histogram = histogram});
}

void MetricsPage::Process() {
  // Numbered as in proc(5).
  constexpr size_t kUserTicks = 14;
  constexpr size_t kSystemTicks = 15;
  constexpr size_t kThreads = 20;
  constexpr size_t kVirtualBytes = 23;
  constexpr size_t kResidentPages = 24;
  const std::vector<std::string> stat = StatFields();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  Counter("process_cpu_seconds_total", "Processor time spent, of the user and of the system.",
          (FieldOf(stat, kUserTicks) + FieldOf(stat, kSystemTicks)) / ticks);
  Gauge("process_resident_memory_bytes", "Memory in use.",
        FieldOf(stat, kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  const HeapUse heap = HeapUse::OfThisProcess();
  Gauge("callslip_heap_in_use_bytes", "Memory that is allocated and not freed.",
        static_cast<double>(heap.in_use));
  Gauge("callslip_heap_spare_bytes", "Free memory that the allocator keeps.",
        static_cast<double>(heap.spare));
  Gauge("process_virtual_memory_bytes", "Address space in use.", FieldOf(stat, kVirtualBytes));
  Gauge("process_threads", "Threads.", FieldOf(stat, kThreads));
  Gauge("process_open_fds", "Open file descriptors.", OpenFiles());
  Gauge("process_max_fds", "How many file descriptors may be open.", MaxFiles());
  Gauge("process_start_time_seconds", "When the process started, in seconds since 1970.",
        StartSeconds(stat));
  Gauge("callslip_build_info", "Always 1; the version is a label.", 1, {{"version", kVersion}});
}

absl::Time ProcessStart() { return absl::UnixEpoch() + absl::Seconds(StartSeconds(StatFields())); }

}  // namespace callslip
