#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callslip {

// An answer of GET /metrics, read strictly: each family has a help and a type before its samples
// and comes once; names and labels follow the rules of Prometheus and its conventions (counters end
// in _total, nothing else does); no series comes twice; buckets grow and end in +Inf, which equals
// the count.
class PrometheusText {
 public:
  explicit PrometheusText(const std::string& text);

  // The problems, one a line; empty if there are none.
  const std::string& problems() const { return problems_; }

  using Labels = std::map<std::string, std::string>;

  // The sum of the samples of `name` with all of `labels`; zero if there are none.
  double Sum(const std::string& name, const Labels& labels = {}) const;
  // Names as in samples: those of histograms with _bucket, _sum or _count.
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
