#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callslip {

// What GET /metrics answered, read strictly: each family has a help and a type before its samples
// and comes once; names and labels keep to the rules of Prometheus and to its conventions (counters
// end in _total, nothing else does); no series comes twice; buckets grow and end in +Inf, which is
// the count.
class PrometheusText {
 public:
  explicit PrometheusText(const std::string& text);

  // What is wrong with it, a line each. Empty where nothing is.
  const std::string& problems() const { return problems_; }

  using Labels = std::map<std::string, std::string>;

  // The sum of the samples of `name` that have all of `labels`; zero where there are none.
  double Sum(const std::string& name, const Labels& labels = {}) const;
  // Names as they stand in samples: those of histograms with _bucket, _sum or _count.
  bool Has(const std::string& name) const;
  std::set<std::string> Names() const;
  size_t series() const { return samples_.size(); }

 private:
  struct Sample {
    std::string name;
    Labels labels;
    double value = 0;
  };

  void Problem(const std::string& what, const std::string& line);
  void TakeComment(const std::string& line);
  void TakeSample(const std::string& line);
  void CheckHistograms();

  std::string problems_;
  std::string family_;
  std::set<std::string> helped_;
  std::map<std::string, std::string> types_;
  std::vector<Sample> samples_;
};

}  // namespace callslip
