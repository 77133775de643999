#include "gateway/web/web_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/sha256.h"
#include "zlib.h"

namespace callslip::gateway {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;

// For data that the build has compressed: never larger than `bytes`.
std::string Inflate(absl::string_view gzip, size_t bytes) {
  std::string plain(bytes, '\0');
  z_stream stream = {};
  constexpr int kGzip = 16;
  inflateInit2(&stream, MAX_WBITS + kGzip);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  inflate(&stream, Z_FINISH);
  plain.resize(stream.total_out);
  inflateEnd(&stream);
  return plain;
}

class ProgramFiles final : public WebFiles {
 public:
  explicit ProgramFiles(absl::Span<const EmbeddedFile> files) : files_(files) {}

  std::optional<WebFile> Find(const std::string& path, bool takes_gzip) const override {
    const auto file = absl::c_find_if(
        files_, [&path](const EmbeddedFile& candidate) { return candidate.path == path; });
    if (file == files_.end()) return std::nullopt;
    return WebFile{.body = takes_gzip ? std::string(file->gzip) : Inflate(file->gzip, file->bytes),
                   .is_gzip = takes_gzip,
                   .etag = std::string(file->etag)};
  }

 private:
  const absl::Span<const EmbeddedFile> files_;
};

class FolderFiles final : public WebFiles {
 public:
  explicit FolderFiles(std::string folder) : folder_(std::move(folder)) {}

  std::optional<WebFile> Find(const std::string& path, bool) const override {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path folder = fs::canonical(folder_, error);
    if (error) return std::nullopt;
    const fs::path file = fs::canonical(folder / fs::path(path).relative_path(), error);
    if (error || !fs::is_regular_file(file, error)) return std::nullopt;
    // Rejects a path that leaves the folder through `..` or a link.
    const auto [left, unused] = absl::c_mismatch(folder, file);
    if (left != folder.end() || fs::file_size(file, error) > kMaxFileBytes) return std::nullopt;
    std::ifstream stream(file, std::ios::binary);
    WebFile found;
    found.body.assign(std::istreambuf_iterator<char>(stream), {});
    const Sha256Digest digest = Sha256(found.body);
    found.etag = absl::StrCat("\"", absl::BytesToHexString(AsBytes(digest).substr(0, 8)), "\"");
    return found;
  }

 private:
  const std::string folder_;
};

}  // namespace

std::unique_ptr<WebFiles> FilesInProgram(absl::Span<const EmbeddedFile> files) {
  return std::make_unique<ProgramFiles>(files);
}

std::unique_ptr<WebFiles> FilesInFolder(std::string folder) {
  return std::make_unique<FolderFiles>(std::move(folder));
}

}  // namespace callslip::gateway
