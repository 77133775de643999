#include "bridge/clients/json_edit.h"

#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/clients/jsonc.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

constexpr auto kNowhere = absl::string_view::npos;
// The default indentation of editors and agents.
constexpr absl::string_view kDefaultIndent = "  ";

// The layout of a text.
struct Layout {
  absl::string_view line_break;
  std::string indent;  // One level.
};

// A member to insert: `key` is quoted; the value is JSON on one line, or further members.
struct Member {
  std::string key;
  std::string value;
  std::vector<Member> inner;  // The members of an object, if there is no value.
};

// The start of the space before `at` if nothing else precedes it on its line; else kNowhere.
size_t LineStart(absl::string_view text, size_t at) {
  size_t start = at;
  while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t')) --start;
  return start == 0 || text[start - 1] == '\n' ? start : kNowhere;
}

// The leading space of the line that contains `at`.
std::string IndentOfLine(absl::string_view text, size_t at) {
  const size_t line_break = text.rfind('\n', at);
  const size_t start = line_break == kNowhere ? 0 : line_break + 1;
  size_t end = start;
  while (end < at && (text[end] == ' ' || text[end] == '\t')) ++end;
  return std::string(text.substr(start, end - start));
}

Layout LayoutOf(absl::string_view text, const JsoncObject& root) {
  Layout layout = {.line_break = absl::StrContains(text, "\r\n") ? "\r\n" : "\n",
                   .indent = std::string(kDefaultIndent)};
  if (root.members.empty()) return layout;
  const size_t first = root.members.front().key_at;
  const size_t start = LineStart(text, first);
  if (start != kNowhere && start < first) {
    layout.indent = std::string(text.substr(start, first - start));
  }
  return layout;
}

std::string OnOneLine(const Member& member) {
  std::string text = absl::StrCat(member.key, ": ", member.value);
  if (member.inner.empty()) return text;
  absl::string_view separator = "{";
  for (const Member& inner : member.inner) {
    absl::StrAppend(&text, separator, OnOneLine(inner));
    separator = ", ";
  }
  return text + "}";
}

// On separate lines; the first one is already indented by `indent`.
std::string OnLines(const Member& member, const std::string& indent, const Layout& layout) {
  std::string text = absl::StrCat(member.key, ": ", member.value);
  if (member.inner.empty()) return text;
  const std::string deeper = indent + layout.indent;
  absl::string_view separator = "{";
  for (const Member& inner : member.inner) {
    absl::StrAppend(&text, separator, layout.line_break, deeper, OnLines(inner, deeper, layout));
    separator = ",";
  }
  return absl::StrCat(text, layout.line_break, indent, "}");
}

std::string Insert(absl::string_view text, size_t at, absl::string_view what) {
  return absl::StrCat(text.substr(0, at), what, text.substr(at));
}

std::string InsertFirst(absl::string_view text, const JsoncObject& object, const Member& member,
                        const Layout& layout) {
  const std::string outer = IndentOfLine(text, object.at);
  const std::string indent = outer + layout.indent;
  const std::string lines =
      absl::StrCat(layout.line_break, indent, OnLines(member, indent, layout));
  if (object.last_break != kNowhere) return Insert(text, object.last_break, lines);
  return Insert(text, object.end - 1, absl::StrCat(lines, layout.line_break, outer));
}

// Inserts after the last member, and after any comment on its line.
std::string InsertLast(absl::string_view text, const JsoncObject& object, const Member& member,
                       const Layout& layout) {
  const size_t last = object.members.back().key_at;
  const std::string indent = LineStart(text, last) == kNowhere
                                 ? IndentOfLine(text, object.at) + layout.indent
                                 : IndentOfLine(text, last);
  const absl::string_view comma = object.has_last_comma ? "," : "";
  const bool has_lines = object.first_break != kNowhere;
  const std::string added =
      has_lines ? absl::StrCat(layout.line_break, indent, OnLines(member, indent, layout), comma)
                : absl::StrCat(" ", OnOneLine(member), comma);
  // In reverse order, so that the earlier offset stays valid.
  const std::string with_member =
      Insert(text, has_lines ? object.first_break : object.content_end, added);
  return object.has_last_comma ? with_member : Insert(with_member, object.content_end, ",");
}

std::string InsertMember(absl::string_view text, const JsoncObject& object, const Member& member,
                         const Layout& layout) {
  return object.members.empty() ? InsertFirst(text, object, member, layout)
                                : InsertLast(text, object, member, layout);
}

// The member of that name; nullptr if there is none. FAILED_PRECONDITION if there are several,
// because readers differ in which one they use.
absl::StatusOr<const JsoncMember*> Find(const JsoncObject& object, const std::string& key) {
  const auto is_it = [&](const JsoncMember& member) { return member.key == key; };
  const auto found = absl::c_find_if(object.members, is_it);
  if (found == object.members.end()) return nullptr;
  if (absl::c_count_if(object.members, is_it) == 1) return &*found;
  return absl::FailedPreconditionError(absl::StrCat("it has \"", key, "\" twice"));
}

Member EntryMember(const ServerEntry& entry) {
  Member member = {.key = QuoteJson(entry.name)};
  for (const auto& [key, value] : entry.members) {
    member.inner.push_back({.key = QuoteJson(key), .value = value});
  }
  return member;
}

// `value` in the form of JsoncMember::value.
absl::StatusOr<std::string> Plain(const std::string& value) {
  ASSIGN_OR_RETURN(const JsoncObject object, ReadJsonc(absl::StrCat("{\"\":", value, "}")));
  return object.members.front().value;
}

// Sets the members of the entry at `at` one by one.
absl::StatusOr<std::string> UpdateEntry(std::string text, size_t at, const ServerEntry& entry,
                                        const Layout& layout) {
  for (const auto& [key, value] : entry.members) {
    ASSIGN_OR_RETURN(const JsoncObject object, ReadJsoncObject(text, at));
    ASSIGN_OR_RETURN(const JsoncMember* member, Find(object, key));
    if (member == nullptr) {
      text = InsertMember(text, object, {.key = QuoteJson(key), .value = value}, layout);
      continue;
    }
    ASSIGN_OR_RETURN(const std::string wanted, Plain(value));
    if (member->value == wanted) continue;
    text.replace(member->value_at, member->value_end - member->value_at, value);
  }
  return text;
}

absl::StatusOr<std::string> SetEntry(const std::string& text, const JsoncObject& section,
                                     const ServerEntry& entry, const Layout& layout) {
  ASSIGN_OR_RETURN(const JsoncMember* member, Find(section, entry.name));
  const Member wanted = EntryMember(entry);
  if (member == nullptr) return InsertMember(text, section, wanted, layout);
  if (const auto object = ReadJsoncObject(text, member->value_at); object.ok()) {
    ASSIGN_OR_RETURN(const JsoncMember* command, Find(*object, "command"));
    if (command != nullptr) return UpdateEntry(text, member->value_at, entry, layout);
  }
  const std::string lines = OnLines(wanted, IndentOfLine(text, member->key_at), layout);
  return absl::StrCat(absl::string_view(text).substr(0, member->key_at), lines,
                      absl::string_view(text).substr(member->value_end));
}

}  // namespace

absl::StatusOr<std::string> SetJsonEntry(absl::string_view text, const ServerEntry& entry) {
  if (absl::StripAsciiWhitespace(text).empty()) return absl::StrCat(text, JsonWithEntry(entry));
  ASSIGN_OR_RETURN(const JsoncObject root, ReadJsonc(text));
  const Layout layout = LayoutOf(text, root);
  ASSIGN_OR_RETURN(const JsoncMember* section, Find(root, entry.section));
  std::string changed;
  if (section == nullptr) {
    const Member member = {.key = QuoteJson(entry.section), .inner = {EntryMember(entry)}};
    changed = InsertMember(text, root, member, layout);
  } else {
    const auto object = ReadJsoncObject(text, section->value_at);
    if (!object.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("\"", entry.section, "\" is not an object"));
    }
    ASSIGN_OR_RETURN(changed, SetEntry(std::string(text), *object, entry, layout));
  }
  RETURN_IF_ERROR(ReadJsonc(changed).status());
  return changed;
}

std::string JsonWithEntry(const ServerEntry& entry) {
  const Layout layout = {.line_break = "\n", .indent = std::string(kDefaultIndent)};
  const Member section = {.key = QuoteJson(entry.section), .inner = {EntryMember(entry)}};
  return absl::StrCat("{\n", kDefaultIndent, OnLines(section, layout.indent, layout), "\n}\n");
}

}  // namespace callslip::bridge
