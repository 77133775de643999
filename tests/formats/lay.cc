#include "formats/lay.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"
#include "tracker/storage/journal_log.h"
#include "tracker/storage/sqlite.h"

namespace callslip::tracker {

namespace fs = std::filesystem;

const fs::path& Formats() {
  static const fs::path& path = *new fs::path(CALLSLIP_SOURCE_DIR "/tests/formats");
  return path;
}

std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> Holding(const char* holds) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(Formats())) {
    if (fs::exists(entry.path() / holds)) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Lay(const std::string& format, const std::string& to) {
  const fs::path from = Formats() / format;
  auto database = SqliteDatabase::Open(to + "/commands.db");
  ASSERT_OK(database);
  ASSERT_OK(database->Run(Contents(from / "commands.sql")));
  for (const char* log : JournalLog::kFileNames) {
    const std::string hex = Contents(from / absl::StrCat(log, ".hex"));
    if (hex.empty()) continue;
    std::ofstream(to + "/" + log, std::ios::binary)
        << absl::HexStringToBytes(absl::StrReplaceAll(hex, {{"\n", ""}}));
  }
}

}  // namespace callslip::tracker
