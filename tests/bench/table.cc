#include "bench/table.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace callslip::bench {
namespace {

// In characters; a continuation byte of UTF-8 has no width of its own.
int Width(const std::string& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

void Table::Print() const {
  std::vector<int> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  for (const auto& row : rows_) {
    std::string line = "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(static_cast<size_t>(widths[i] - Width(row[i])), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    std::printf("%s\n", line.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::string Fixed(double value, int decimals) { return absl::StrFormat("%.*f", decimals, value); }

std::string Ratio(double value, double floor) { return Fixed(value / floor, 2) + "x"; }

}  // namespace callslip::bench
