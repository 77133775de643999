#include "support/prometheus_text.h"

#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

namespace callslip {
namespace {

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

double NumberOf(const std::string& text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  size_t used = 0;
  try {
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

PrometheusText::PrometheusText(const std::string& text) {
  if (text.empty() || text.back() != '\n') Problem("the last line has no end", "");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# ", 0) == 0) {
      TakeComment(line);
    } else {
      TakeSample(line);
    }
  }
  CheckHistograms();
}

void PrometheusText::Problem(const std::string& what, const std::string& line) {
  problems_ += what + ": " + line + "\n";
}

void PrometheusText::TakeComment(const std::string& line) {
  static const std::regex kComment(
      R"(# (?:HELP ([a-z][a-z0-9_]*) ([A-Z].*\.)|TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram)))");
  std::smatch match;
  if (!std::regex_match(line, match, kComment)) return Problem("neither a help nor a type", line);
  if (match[1].matched) {
    if (!helped_.insert(match[1]).second) Problem("a family that comes twice", line);
    return;
  }
  family_ = match[3];
  if (!helped_.contains(family_)) Problem("no help before it", line);
  if (!types_.emplace(family_, match[4]).second) Problem("a type that comes twice", line);
  if ((match[4] == "counter") != EndsWith(family_, "_total")) Problem("name and type", line);
  if (match[4] == "histogram" && !EndsWith(family_, "_seconds")) Problem("no unit", line);
}

void PrometheusText::TakeSample(const std::string& line) {
  static const std::regex kSample(R"(([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+))");
  static const std::regex kLabel(R"re(([a-z][a-z0-9_]*)="((?:[^"\\]|\\.)*)"(,|$))re");
  std::smatch match;
  if (!std::regex_match(line, match, kSample)) return Problem("no sample", line);
  Sample sample{.name = match[1], .value = NumberOf(match[3])};
  if (std::isnan(sample.value)) Problem("no number", line);
  std::string rest = match[2];
  for (std::smatch label; !rest.empty(); rest = label.suffix()) {
    if (!std::regex_search(rest, label, kLabel, std::regex_constants::match_continuous)) {
      return Problem("labels", line);
    }
    if (!sample.labels.emplace(label[1], label[2]).second) Problem("a label twice", line);
  }
  const bool histogram = types_[family_] == "histogram";
  const bool of_family = histogram ? sample.name == family_ + "_bucket" ||
                                         sample.name == family_ + "_sum" ||
                                         sample.name == family_ + "_count"
                                   : sample.name == family_;
  if (!of_family) Problem("not of the family before it", line);
  for (const Sample& other : samples_) {
    if (other.name == sample.name && other.labels == sample.labels) Problem("it comes twice", line);
  }
  samples_.push_back(std::move(sample));
}

void PrometheusText::CheckHistograms() {
  // The last bucket of each series.
  std::map<std::pair<std::string, Labels>, Sample> last;
  for (const Sample& sample : samples_) {
    if (EndsWith(sample.name, "_bucket")) {
      Labels labels = sample.labels;
      labels.erase("le");
      const auto [before, is_first] =
          last.emplace(std::pair(sample.name.substr(0, sample.name.size() - 7), labels), sample);
      if (is_first) continue;
      const Sample& smaller = before->second;
      if (sample.value < smaller.value ||
          NumberOf(sample.labels.at("le")) <= NumberOf(smaller.labels.at("le"))) {
        Problem("buckets that do not grow", sample.name);
      }
      before->second = sample;
    }
  }
  for (const auto& [series, bucket] : last) {
    if (bucket.labels.at("le") != "+Inf") Problem("no last bucket", series.first);
    if (bucket.value != Sum(series.first + "_count", series.second)) {
      Problem("buckets and count", series.first);
    }
  }
}

double PrometheusText::Sum(const std::string& name, const Labels& labels) const {
  double sum = 0;
  for (const Sample& sample : samples_) {
    if (sample.name != name) continue;
    bool matches = true;
    for (const auto& [label, value] : labels) {
      const auto found = sample.labels.find(label);
      matches = matches && found != sample.labels.end() && found->second == value;
    }
    if (matches) sum += sample.value;
  }
  return sum;
}

bool PrometheusText::Has(const std::string& name) const { return Names().contains(name); }

std::set<std::string> PrometheusText::Names() const {
  std::set<std::string> names;
  for (const Sample& sample : samples_) names.insert(sample.name);
  return names;
}

}  // namespace callslip
