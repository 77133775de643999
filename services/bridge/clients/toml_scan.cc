#include "bridge/clients/toml_scan.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/clients/jsonc.h"
#include "bridge/clients/text_reader.h"
#include "common/json_string.h"

namespace callslip::bridge {
namespace {

// Deeper than users write it.
constexpr int kMaxDepth = 64;

class Reader : public TextReader {
 public:
  using TextReader::TextReader;

  // Skips space, line breaks and comments.
  void SkipLines();
  bool TakeStatement(TomlStatement& statement);

 private:
  void SkipBlanks();
  bool TakeKey(std::vector<std::string>& key);
  // Appends the value to `plain`, in the form of TomlStatement::value.
  bool TakeValue(std::string& plain, int depth);
  bool TakeList(std::string& plain, int depth);
  bool TakeInlineTable(std::string& plain, int depth);
  bool TakeString(std::string& plain);
  bool TakeLongString(absl::string_view quotes, std::string& plain);
  bool TakeEndOfLine();
};

void Reader::SkipBlanks() {
  while (!AtEnd() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

void Reader::SkipLines() {
  while (!AtEnd()) {
    if (text_[at_] == '#') {
      SkipToLineEnd();
    } else if (absl::StrContains(" \t\r\n", text_[at_])) {
      ++at_;
    } else {
      break;
    }
  }
}

bool Reader::TakeEndOfLine() {
  SkipBlanks();
  if (Sees("#")) SkipToLineEnd();
  if (AtEnd() || Sees("\n") || Sees("\r\n")) return true;
  return Fail("something follows a statement on its line");
}

bool Reader::TakeLongString(absl::string_view quotes, std::string& plain) {
  const size_t begin = at_;
  at_ += quotes.size();
  while (!AtEnd() && !Sees(quotes)) {
    at_ += quotes[0] == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
  }
  if (AtEnd()) return Fail("a string does not end");
  // Up to two quotes may precede the closing ones.
  at_ += quotes.size();
  for (int i = 0; i < 2 && !AtEnd() && text_[at_] == quotes[0]; ++i) ++at_;
  absl::StrAppend(&plain, text_.substr(begin, at_ - begin));
  return true;
}

bool Reader::TakeString(std::string& plain) {
  if (Sees("\"\"\"") || Sees("'''")) return TakeLongString(text_.substr(at_, 3), plain);
  const char quote = text_[at_];
  const size_t begin = at_++;
  while (!AtEnd() && text_[at_] != quote && text_[at_] != '\n') {
    at_ += quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
  }
  if (AtEnd() || text_[at_] != quote) return Fail("a string does not end");
  const absl::string_view raw = text_.substr(begin, ++at_ - begin);
  if (quote == '\'') {
    plain += QuoteJson(raw.substr(1, raw.size() - 2));
  } else {
    // An escape that only TOML has stays as it is: the string then differs from any of ours.
    const std::optional<std::string> decoded = DecodeJsonString(raw);
    plain += decoded ? QuoteJson(*decoded) : std::string(raw);
  }
  return true;
}

bool Reader::TakeKey(std::vector<std::string>& key) {
  for (;;) {
    SkipBlanks();
    if (AtEnd()) return Fail("a key is missing");
    if (text_[at_] == '"' || text_[at_] == '\'') {
      std::string plain;
      if (Sees("\"\"\"") || Sees("'''")) return Fail("a key is invalid");
      if (!TakeString(plain)) return false;
      key.push_back(DecodeJsonString(plain).value_or(plain));
    } else {
      const size_t begin = at_;
      while (!AtEnd() && (absl::ascii_isalnum(text_[at_]) || absl::StrContains("-_", text_[at_]))) {
        ++at_;
      }
      if (at_ == begin) return Fail("a key is missing");
      key.emplace_back(text_.substr(begin, at_ - begin));
    }
    SkipBlanks();
    if (!Sees(".")) return true;
    ++at_;
  }
}

bool Reader::TakeList(std::string& plain, int depth) {
  if (!Take("[")) return false;
  plain += '[';
  SkipLines();
  for (bool is_first = true; !Sees("]"); is_first = false) {
    if (!is_first) plain += ',';
    if (!TakeValue(plain, depth)) return false;
    SkipLines();
    if (Sees("]")) break;
    if (!Take(",")) return false;
    SkipLines();
  }
  plain += ']';
  return Take("]");
}

bool Reader::TakeInlineTable(std::string& plain, int depth) {
  const size_t begin = at_;
  if (!Take("{")) return false;
  SkipLines();
  while (!Sees("}")) {
    std::vector<std::string> key;
    std::string value;
    if (!TakeKey(key) || !Take("=")) return false;
    SkipBlanks();
    if (!TakeValue(value, depth)) return false;
    SkipLines();
    if (Sees("}")) break;
    if (!Take(",")) return false;
    SkipLines();
  }
  if (!Take("}")) return false;
  absl::StrAppend(&plain, text_.substr(begin, at_ - begin));
  return true;
}

bool Reader::TakeValue(std::string& plain, int depth) {
  if (depth == kMaxDepth) return Fail("it nests too deep");
  if (AtEnd()) return Fail("a value is missing");
  if (text_[at_] == '"' || text_[at_] == '\'') return TakeString(plain);
  if (text_[at_] == '[') return TakeList(plain, depth + 1);
  if (text_[at_] == '{') return TakeInlineTable(plain, depth + 1);
  const size_t begin = at_;
  // A date may have a space before its time.
  while (!AtEnd() && !absl::StrContains(",]}#\r\n", text_[at_])) ++at_;
  const auto word = absl::StripTrailingAsciiWhitespace(text_.substr(begin, at_ - begin));
  if (word.empty()) return Fail("a value is missing");
  if (absl::c_any_of(word, [](char c) { return absl::StrContains("\"'=[{", c); })) {
    return Fail("a value is invalid");
  }
  at_ = begin + word.size();
  absl::StrAppend(&plain, word);
  return true;
}

bool Reader::TakeStatement(TomlStatement& statement) {
  statement.at = at_;
  if (Sees("[")) {
    const bool is_array = Sees("[[");
    statement.kind = is_array ? TomlStatement::Kind::kTableOfArray : TomlStatement::Kind::kTable;
    if (!Take(is_array ? "[[" : "[") || !TakeKey(statement.key)) return false;
    if (!Take(is_array ? "]]" : "]")) return false;
  } else {
    if (!TakeKey(statement.key) || !Take("=")) return false;
    SkipBlanks();
    statement.value_at = at_;
    if (!TakeValue(statement.value, /*depth=*/0)) return false;
  }
  statement.end = at_;
  return TakeEndOfLine();
}

}  // namespace

absl::StatusOr<std::vector<TomlStatement>> ScanToml(absl::string_view text) {
  Reader reader(text);
  std::vector<TomlStatement> statements;
  for (reader.SkipLines(); !reader.AtEnd(); reader.SkipLines()) {
    TomlStatement statement;
    if (!reader.TakeStatement(statement)) return reader.status();
    statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace callslip::bridge
