#pragma once

#include <string>
#include <vector>

namespace callslip::bench {

// A table on stdout: the first column flush left, the others flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}

  // `row` has as many cells as the head.
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "1.2", with `decimals` decimals.
std::string Fixed(double value, int decimals);
// "1.2x".
std::string Ratio(double value, double floor);

}  // namespace callslip::bench
