#pragma once

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace callslip {

// The table of docs/access.md whose first column is `what`, as `method` or `route`: for each row,
// the columns that say `yes`.
inline std::map<std::string, std::set<std::string>> DocumentedAccess(const std::string& docs,
                                                                     const std::string& what) {
  std::map<std::string, std::set<std::string>> access;
  std::ifstream file(docs + "/access.md");
  EXPECT_TRUE(file) << "access.md is missing";
  std::vector<std::string> columns;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells =
        absl::StrSplit(absl::StripSuffix(absl::StripPrefix(line, "|"), "|"), '|');
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    if (absl::StartsWith(line, absl::StrCat("| ", what, " |"))) columns = cells;
    if (line.empty()) columns.clear();
    if (columns.empty() || !absl::StartsWith(cells.front(), "`")) continue;
    std::set<std::string>& who = access[cells.front().substr(1, cells.front().size() - 2)];
    for (size_t i = 1; i < cells.size() && i < columns.size(); ++i) {
      if (cells[i] == "yes") who.insert(columns[i]);
    }
  }
  return access;
}

}  // namespace callslip
