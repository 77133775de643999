#include "gateway/web/web_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zlib.h"

namespace callslip::gateway {
namespace {

std::string Gzip(const std::string& plain) {
  std::string packed(plain.size() + 100, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(WebFilesTest, FilesInProgramAreUnpackedForClientsWithoutGzip) {
  const std::string text(5000, 'a');
  const std::string packed = Gzip(text);
  const EmbeddedFile files[] = {
      {.path = "assets/a.js", .gzip = packed, .bytes = text.size(), .etag = "\"1\""}};
  const auto found = FilesInProgram(files);
  EXPECT_EQ(found->Find("assets/a.js", false)->body, text);
  EXPECT_FALSE(found->Find("assets/a.js", false)->is_gzip);
  EXPECT_EQ(found->Find("assets/a.js", true)->body, packed);
  EXPECT_TRUE(found->Find("assets/a.js", true)->is_gzip);
  for (const char* path : {"", "assets", "assets/a.j", "assets/../assets/a.js", "/assets/a.js"}) {
    EXPECT_FALSE(found->Find(path, true).has_value()) << path;
  }
}

TEST(WebFilesTest, NothingOutsideFolderIsFound) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "web_files_test";
  fs::remove_all(root);
  fs::create_directories(root / "dist/assets");
  fs::create_directories(root / "dist-evil");
  std::ofstream(root / "dist/index.html") << "page";
  std::ofstream(root / "dist/assets/a.js") << "script";
  std::ofstream(root / "dist-evil/secret") << "secret";
  fs::create_symlink(root / "dist-evil/secret", root / "dist/link");
  const auto files = FilesInFolder((root / "dist").string());
  EXPECT_EQ(files->Find("index.html", true)->body, "page");
  EXPECT_EQ(files->Find("assets/a.js", true)->body, "script");
  EXPECT_NE(files->Find("index.html", true)->etag, files->Find("assets/a.js", true)->etag);
  for (const char* path : {"", ".", "assets", "..", "../dist-evil/secret", "link",
                           "assets/../../dist-evil/secret", "/etc/passwd", "nothing"}) {
    EXPECT_FALSE(files->Find(path, true).has_value()) << path;
  }
  fs::remove_all(root);
}

}  // namespace
}  // namespace callslip::gateway
