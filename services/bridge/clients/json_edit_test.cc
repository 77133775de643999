#include "bridge/clients/json_edit.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/clients/jsonc.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

const ServerEntry& JsonServer() {
  static const auto& entry = *new ServerEntry{
      .section = "mcpServers",
      .name = "callslip",
      .members = {{"command", R"("/bin/bridge")"}, {"args", R"(["--gateway", "http://h:1"])"}}};
  return entry;
}

std::string SetInJson(absl::string_view text) {
  const auto changed = SetJsonEntry(text, JsonServer());
  EXPECT_TRUE(changed.ok()) << text << "\n" << changed.status();
  return changed.value_or("");
}

struct JsonCase {
  const char* before;
  const char* after;
};

TEST(JsonEditTest, InsertedEntryFollowsSurroundingFormat) {
  const JsonCase cases[] = {
      {"{}",
       "{\n  \"mcpServers\": {\n    \"callslip\": {\n      \"command\": \"/bin/bridge\",\n"
       "      \"args\": [\"--gateway\", \"http://h:1\"]\n    }\n  }\n}"},
      {"{\n\t\"a\": 1 // one\n\t// end\n}\n",
       "{\n\t\"a\": 1, // one\n\t\"mcpServers\": {\n\t\t\"callslip\": {\n"
       "\t\t\t\"command\": \"/bin/bridge\",\n\t\t\t\"args\": [\"--gateway\", \"http://h:1\"]\n"
       "\t\t}\n\t}\n\t// end\n}\n"},
      {"{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}, /* last */\n  },\n}\n",
       "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}, /* last */\n    \"callslip\": {\n"
       "      \"command\": \"/bin/bridge\",\n      \"args\": [\"--gateway\", \"http://h:1\"]\n"
       "    },\n  },\n}\n"},
      {R"({"mcpServers":{"x":{}}})",
       R"({"mcpServers":{"x":{}, "callslip": {"command": "/bin/bridge", "args": ["--gateway", "http://h:1"]}}})"},
      {"{\r\n  \"mcpServers\": { // none\r\n  }\r\n}",
       "{\r\n  \"mcpServers\": { // none\r\n    \"callslip\": {\r\n      \"command\": "
       "\"/bin/bridge\",\r\n      \"args\": [\"--gateway\", \"http://h:1\"]\r\n    }\r\n  }\r\n}"},
  };
  for (const JsonCase& each : cases) EXPECT_EQ(SetInJson(each.before), each.after);
}

TEST(JsonEditTest, EmptyFileBecomesObject) {
  EXPECT_EQ(SetInJson(""), JsonWithEntry(JsonServer()));
  EXPECT_EQ(SetInJson("\n "), "\n " + JsonWithEntry(JsonServer()));
}

TEST(JsonEditTest, ByteOrderMarkIsPreserved) {
  EXPECT_EQ(SetInJson("\xEF\xBB\xBF{}"), absl::StrCat("\xEF\xBB\xBF", SetInJson("{}")));
}

TEST(JsonEditTest, EquivalentEntryIsLeftUnchanged) {
  const char* texts[] = {
      R"({"mcpServers": {"callslip": {"command": "\/bin\/bridge", // mine
          "args": ["--gateway", "http://h:1",], "env": {"A": "b"}}}})",
      R"({"mcpServers":{"\u0063allslip":{"args":["--gateway","http://h:1"],"command":"/bin/bridge"}}})"};
  for (const char* text : texts) EXPECT_EQ(SetInJson(text), text);
}

TEST(JsonEditTest, EntryWithCommandKeepsItsOtherMembers) {
  EXPECT_EQ(SetInJson(R"({"mcpServers": {"callslip": {"env": {"A": "b"}, "command": "old"}}})"),
            R"({"mcpServers": {"callslip": {"env": {"A": "b"}, "command": "/bin/bridge", )"
            R"("args": ["--gateway", "http://h:1"]}}})");
}

TEST(JsonEditTest, EntryWithoutCommandIsReplaced) {
  const std::string changed = SetInJson(
      "{\n  \"mcpServers\": {\n    \"callslip\": {\"url\": \"http://h:1/mcp\"}\n  }\n}\n");
  EXPECT_EQ(changed, JsonWithEntry(JsonServer()));
}

TEST(JsonEditTest, BrokenTextIsRefusedWithLineNumber) {
  const char* texts[] = {"{",       "[]",          "{\"a\": 1,, }", "{\"a\": }",   "{'a': 1}",
                         "{} {}",   "{\"a\" 1}",   "{/* }",         "{\"a\": 1",   "null",
                         "// only", "{\"a\": \"}", "{\"a\": x}",    "{\"a\": [1}", "\xff{}"};
  for (const char* text : texts) {
    EXPECT_EQ(SetJsonEntry(text, JsonServer()).status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_TRUE(
      absl::StrContains(SetJsonEntry("{\n\n x}", JsonServer()).status().message(), "line 3"));
  std::string deep = "1";
  for (int i = 0; i < 2 * kMaxJsoncDepth; ++i) deep = absl::StrCat("[", deep, "]");
  EXPECT_FALSE(SetJsonEntry(absl::StrCat("{\"a\": ", deep, "}"), JsonServer()).ok());
}

TEST(JsonEditTest, UnexpectedOrDuplicateMembersAreRefused) {
  const char* texts[] = {R"({"mcpServers": []})", R"({"mcpServers": null})",
                         R"({"mcpServers": {}, "mcpServers": {}})",
                         R"({"mcpServers": {"callslip": 1, "callslip": 2}})",
                         R"({"mcpServers": {"callslip": {"command": 1, "command": 2}}})"};
  for (const char* text : texts) {
    EXPECT_EQ(SetJsonEntry(text, JsonServer()).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << text;
  }
}

// Generates valid JSONC texts from a seed.
class JsonTexts {
 public:
  explicit JsonTexts(unsigned seed) : random_(seed), lines_(Below(3) != 0) {}

  std::string File() {
    std::string text = Space() + "{";
    const int members = Below(4);
    const int place = Below(members + 1);
    for (int i = 0; i < members; ++i) {
      if (i > 0) text += ",";
      const bool is_section = i == place;
      absl::StrAppend(&text, Space(), is_section ? "\"mcpServers\"" : Key(i), Space(), ":", Space(),
                      is_section ? Object(1) : Value(2));
    }
    if (members > 0 && Below(3) == 0) text += Space() + ",";
    return text + Space() + "}" + Space();
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % limit); }
  std::string Key(int i) { return absl::StrCat("\"k", i, Below(4) == 0 ? "\\\"{//" : "", "\""); }
  std::string Space() {
    if (!lines_) return Below(4) == 0 ? " /* } , */" : "";
    const char* spaces[] = {"",        " ", "\n", "\n  ", "\t", " // , \"} {\n", "/* \n } , */",
                            "\r\n    "};
    return spaces[Below(8)];
  }
  std::string Object(int depth) {
    std::string text = "{";
    const int members = Below(3);
    for (int i = 0; i < members; ++i) {
      absl::StrAppend(&text, i > 0 ? "," : "", Space(), Key(i), Space(), ":", Value(depth),
                      Space());
    }
    if (members > 0 && Below(3) == 0) text += ",";
    return text + Space() + "}";
  }
  std::string Value(int depth) {
    if (depth > 0 && Below(2) == 0) return Object(depth - 1);
    const char* values[] = {"1",   "-2.5e+3",         "null", "true", "\"a, } // b\"", "[1, 2,]",
                            "[ ]", "\"\\u00e4 \\\\\""};
    return values[Below(8)];
  }

  std::mt19937 random_;
  const bool lines_;
};

// True if `text` is `longer` without some of its characters.
bool IsWithin(absl::string_view text, absl::string_view longer) {
  size_t at = 0;
  for (const char c : longer) {
    if (at < text.size() && text[at] == c) ++at;
  }
  return at == text.size();
}

// The members of an object, parsed by another JSON parser. It gets no comments and no trailing
// commas: ReadJsonc() has removed them.
nlohmann::json ParseForeign(const std::string& text) {
  const auto object = ReadJsonc(text);
  EXPECT_TRUE(object.ok()) << text << "\n" << object.status();
  std::string plain = "{";
  if (object.ok()) {
    for (const JsoncMember& member : object->members) {
      absl::StrAppend(&plain, plain.size() > 1 ? "," : "", QuoteJson(member.key), ":",
                      member.value);
    }
  }
  return nlohmann::json::parse(plain + "}");
}

TEST(JsonEditTest, ExistingContentIsPreserved) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    const std::string before = JsonTexts(seed).File();
    const std::string after = SetInJson(before);
    ASSERT_TRUE(IsWithin(before, after)) << before << "\n---\n" << after;
    ASSERT_EQ(SetInJson(after), after) << before;
    const nlohmann::json expected = {{"command", "/bin/bridge"},
                                     {"args", {"--gateway", "http://h:1"}}};
    nlohmann::json was = ParseForeign(before);
    was["mcpServers"]["callslip"] = expected;
    ASSERT_EQ(ParseForeign(after), was) << before << "\n---\n" << after;
  }
}

TEST(JsonEditTest, TextWithoutCommentsStaysPlainJson) {
  const char* texts[] = {"{}",
                         "{ }",
                         "{\n}",
                         R"({"a":1})",
                         "{\n  \"a\": {\n    \"b\": []\n  }\n}",
                         R"({"mcpServers":{}})",
                         "{\"mcpServers\": {\n}\n}"};
  for (const char* text : texts) {
    EXPECT_EQ(nlohmann::json::parse(SetInJson(text))["mcpServers"]["callslip"]["command"],
              "/bin/bridge");
  }
}

TEST(JsonEditTest, ArbitraryTextNeitherCrashesNorIsPartlyChanged) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text = JsonTexts(seed).File();
    for (int i = 0; i < 3 && !text.empty(); ++i)
      text[random() % text.size()] = "{}[],:\"/*\\ \n"[random() % 12];
    const auto changed = SetJsonEntry(text, JsonServer());
    if (!changed.ok()) continue;
    ASSERT_TRUE(ReadJsonc(*changed).ok()) << text;
    ASSERT_EQ(SetInJson(*changed), *changed) << text;
  }
}

}  // namespace
}  // namespace callslip::bridge
