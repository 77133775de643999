#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gateway/mcp/browser_actions.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

// The table of a page of documentation whose first column names actions, by action: the names in
// code in its second column, but for those of values.
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
      // Other tables have rows of the same names, before or behind.
      if (FindBrowserAction(action) != nullptr) table.emplace(action, named(cells[2]));
    }
  }
  return table;
}

// What the extension takes is held against its README by the tests of the extension.
TEST(BrowserActionsDocumentationTest, TellsOfEachAndOfItsArguments) {
  const std::set<std::string> examples = {"Enter", "a", "Control+A", "about"};
  const auto in_http = TableIn("http.md");
  const auto in_extension = TableIn("../extension/README.md");
  for (const std::string& name : BrowserActionNames()) {
    std::set<std::string> fields;
    for (const BrowserAction::Field& field : FindBrowserAction(name)->fields) {
      if (name == "close_tab" || field.name != std::string("tab_id")) fields.insert(field.name);
    }
    ASSERT_TRUE(in_http.contains(name) && in_extension.contains(name)) << name;
    EXPECT_EQ(in_http.at(name), fields) << name;
    std::set<std::string> taken = in_extension.at(name);
    for (const std::string& example : examples) taken.erase(example);
    // Said by `analyze`, of itself.
    taken.erase("correlation_ids");
    EXPECT_EQ(taken, fields) << name;
  }
}

}  // namespace
}  // namespace callslip::gateway
