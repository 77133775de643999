#include "bridge/clients/toml_edit.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "bridge/clients/toml_scan.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

using Kind = TomlStatement::Kind;
using Statements = std::vector<TomlStatement>;

// One table, and the values that follow its header.
struct Table {
  TomlStatement header;
  Statements values;
};

const TomlStatement* Find(const Statements& values, const std::string& key) {
  const auto found = absl::c_find_if(values, [&](const TomlStatement& value) {
    return value.key == std::vector<std::string>{key};
  });
  return found == values.end() ? nullptr : &*found;
}

// The tables of that name. FAILED_PRECONDITION if the servers are not written as tables, since a
// table could not be appended then, or would be a duplicate.
absl::StatusOr<std::vector<Table>> TablesOf(const Statements& statements,
                                            const ServerEntry& entry) {
  std::vector<Table> tables;
  std::vector<std::string> within;
  bool is_it = false;
  for (const TomlStatement& statement : statements) {
    if (statement.kind == Kind::kValue) {
      if (is_it) tables.back().values.push_back(statement);
      std::vector<std::string> path = within;
      path.insert(path.end(), statement.key.begin(), statement.key.end());
      const bool is_of_servers = path[0] == entry.section &&
                                 (within.empty() || (within.size() == 1 && path[1] == entry.name));
      if (is_of_servers) {
        return absl::FailedPreconditionError(
            absl::StrCat("it has ", entry.section, " otherwise than in tables"));
      }
      continue;
    }
    within = statement.key;
    if (statement.kind == Kind::kTableOfArray && within[0] == entry.section && within.size() <= 2) {
      return absl::FailedPreconditionError(absl::StrCat("it has ", entry.section, " as an array"));
    }
    is_it = within == std::vector<std::string>{entry.section, entry.name};
    if (is_it) tables.push_back({.header = statement, .values = {}});
  }
  return tables;
}

std::string LineBreakOf(absl::string_view text) {
  return absl::StrContains(text, "\r\n") ? "\r\n" : "\n";
}

std::string Append(absl::string_view text, const ServerEntry& entry) {
  const std::string line_break = LineBreakOf(text);
  std::string changed(text);
  if (!text.empty() && !absl::EndsWith(text, "\n")) changed += line_break;
  if (!text.empty()) changed += line_break;
  return changed + absl::StrReplaceAll(TomlTable(entry), {{"\n", line_break}});
}

// `value` in the form of TomlStatement::value.
absl::StatusOr<std::string> Plain(const std::string& value) {
  ASSIGN_OR_RETURN(const Statements statements, ScanToml(absl::StrCat("x = ", value)));
  return statements.front().value;
}

absl::StatusOr<std::string> Update(absl::string_view text, const Table& table,
                                   const ServerEntry& entry) {
  if (Find(table.values, "command") == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("[", entry.section, ".", entry.name, "] is there without a command"));
  }
  std::string changed(text);
  std::string added;
  // In reverse order, so that earlier offsets stay valid.
  for (auto value = table.values.rbegin(); value != table.values.rend(); ++value) {
    for (const auto& [key, wanted] : entry.members) {
      if (value->key != std::vector<std::string>{key}) continue;
      ASSIGN_OR_RETURN(const std::string plain, Plain(wanted));
      if (value->value == plain) continue;
      changed.replace(value->value_at, value->end - value->value_at, wanted);
    }
  }
  for (const auto& [key, wanted] : entry.members) {
    if (Find(table.values, key) != nullptr) continue;
    absl::StrAppend(&added, key, " = ", wanted, LineBreakOf(text));
  }
  // Before the first value, which is on a line of its own after the header.
  if (!added.empty()) changed.insert(table.values.front().at, added);
  return changed;
}

}  // namespace

absl::StatusOr<std::string> SetTomlEntry(absl::string_view text, const ServerEntry& entry) {
  ASSIGN_OR_RETURN(const Statements statements, ScanToml(text));
  ASSIGN_OR_RETURN(const std::vector<Table> tables, TablesOf(statements, entry));
  if (tables.size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("it has [", entry.section, ".", entry.name, "] twice"));
  }
  std::string changed;
  if (tables.empty()) {
    changed = Append(text, entry);
  } else {
    ASSIGN_OR_RETURN(changed, Update(text, tables.front(), entry));
  }
  RETURN_IF_ERROR(ScanToml(changed).status());
  return changed;
}

std::string TomlTable(const ServerEntry& entry) {
  std::string table = absl::StrCat("[", entry.section, ".", entry.name, "]\n");
  for (const auto& [key, value] : entry.members) absl::StrAppend(&table, key, " = ", value, "\n");
  return table;
}

}  // namespace callslip::bridge
