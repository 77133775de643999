#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gateway/mcp/tools/browser_actions.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

// The table of a documentation page whose first column names actions, by action: the names in code
// in its second column, except names of values.
std::map<std::string, std::set<std::string>> TableIn(const std::string& path) {
  std::ifstream file(absl::StrCat(CALLSLIP_DOCS_DIR, "/", path));
  const std::set<std::string> values = {"true",  "false", "visible", "hidden", "attached",
                                        "debug", "log",   "info",    "warn",   "error"};
  const auto named = [&](absl::string_view cell) {
    std::set<std::string> names;
    const std::vector<std::string> parts = absl::StrSplit(cell, '`');
    for (size_t i = 1; i < parts.size(); i += 2) {
      if (!values.contains(parts[i])) names.insert(parts[i].substr(0, parts[i].find(':')));
    }
    return names;
  };
  std::map<std::string, std::set<std::string>> table;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() < 4 || !absl::StartsWith(cells[1], " `")) continue;
    for (const std::string& action : named(cells[1])) {
      // Other tables have rows of the same names, before or after.
      if (FindBrowserAction(action) != nullptr) table.emplace(action, named(cells[2]));
    }
  }
  return table;
}

// The extension's own tests check that it accepts the same.
TEST(BrowserActionsDocumentationTest, NamesEachActionAndItsArguments) {
  // Documented once for all actions on a page.
  const auto is_common = [](const std::string& action, const std::string& field) {
    if (field == "tab_id") return action != "close_tab";
    return field == "dialog" || (field == "view" && action != "page");
  };
  auto documented = TableIn("mcp.md");
  for (const BrowserAction& action : BrowserActions()) {
    const std::string name = action.name;
    std::set<std::string> fields;
    for (const BrowserAction::Field& field : action.fields) {
      if (!is_common(name, field.name)) fields.insert(field.name);
    }
    ASSERT_TRUE(documented.contains(name)) << name;
    EXPECT_EQ(documented.at(name), fields) << name;
    documented.erase(name);
  }
  EXPECT_TRUE(documented.empty()) << documented.begin()->first;
}

}  // namespace
}  // namespace callslip::gateway
