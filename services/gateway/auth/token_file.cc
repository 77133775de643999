#include "gateway/auth/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/random.h"
#include "common/status_macros.h"

namespace callslip::gateway {
namespace {

// Some hundred principals: each request is compared with all of them.
constexpr size_t kMaxFileBytes = 64 << 10;
constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMinTokenBytes = 32;
constexpr size_t kMaxTokenBytes = 512;
constexpr size_t kSessionKeyBytes = 32;

constexpr char kSessionKeyAdvice[] =
    "one line `session-key - HEX` with 64 hexadecimal digits, such as `openssl rand -hex 32` makes";

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && absl::c_all_of(text, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '.' || c == '_' || c == '-';
  });
}

// The characters that RFC 6750 has for a bearer token.
bool IsToken(absl::string_view text) {
  return text.size() >= kMinTokenBytes && text.size() <= kMaxTokenBytes &&
         absl::c_all_of(text, [](char c) {
           return absl::ascii_isalnum(c) ||
                  absl::string_view("-._~+/=").find(c) != std::string::npos;
         });
}

bool IsSessionKey(absl::string_view text) {
  return text.size() == 2 * kSessionKeyBytes && absl::c_all_of(text, absl::ascii_isxdigit);
}

// Reads line after line; what must not come twice is remembered.
class Parser {
 public:
  // The complaint about `line`, or OK.
  absl::Status Add(absl::string_view line) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.size() != 3) return Broken("it must be ROLE NAME TOKEN");
    if (fields[0] == "session-key") return AddSessionKey(fields[2]);
    const std::optional<Role> role = ParseRole(fields[0]);
    if (!role.has_value()) {
      return Broken("it must begin with client, worker, viewer, admin or session-key");
    }
    if (!IsName(fields[1])) {
      return Broken("a name is 1 to 64 characters of a-z, 0-9, '.', '_' and '-'");
    }
    if (!names_.insert(fields[1]).second) return Broken("another line has the same name");
    if (!IsToken(fields[2])) {
      return Broken("a token is 32 to 512 characters of A-Z, a-z, 0-9 and -._~+/=");
    }
    if (!tokens_.insert(fields[2]).second) return Broken("another line has the same token");
    file_.entries.push_back({{std::string(fields[1]), *role}, std::string(fields[2])});
    return absl::OkStatus();
  }

  absl::StatusOr<TokenFile> Finish() && {
    if (file_.entries.empty()) {
      return Broken("it holds no token; delete the file to have a new one made");
    }
    if (file_.session_key.empty()) return Broken(absl::StrCat("add ", kSessionKeyAdvice));
    return std::move(file_);
  }

 private:
  static absl::Status Broken(absl::string_view what) { return absl::InvalidArgumentError(what); }

  absl::Status AddSessionKey(absl::string_view hex) {
    if (!file_.session_key.empty() || !IsSessionKey(hex)) {
      return Broken(absl::StrCat("there must be ", kSessionKeyAdvice));
    }
    file_.session_key = absl::HexStringToBytes(hex);
    return absl::OkStatus();
  }

  TokenFile file_;
  absl::flat_hash_set<absl::string_view> names_;
  absl::flat_hash_set<absl::string_view> tokens_;
};

absl::Status FileError(absl::string_view what, const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", what, " the token file ", path));
}

std::string NewSecret() { return absl::StrCat(RandomHex128(), RandomHex128()); }

std::string NewFileText() {
  return absl::StrCat(
      "# Who may call the gateway, and what as: ROLE NAME TOKEN. Keep it secret.\n"
      "client agent ",
      NewSecret(), "\n", "worker extension ", NewSecret(), "\n", "viewer viewer ", NewSecret(),
      "\n", "admin admin ", NewSecret(), "\n",
      "# Signs the ids of MCP sessions. The gateways behind one address need the same one.\n"
      "session-key - ",
      NewSecret(), "\n");
}

// 0, or the errno of the step that failed.
int WriteAndSync(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(fd) == 0 ? 0 : errno;
}

int SyncFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error;
}

// Writes beside `path`, then links: what is seen at `path` is whole, and never replaces a file
// that another gateway made meanwhile.
absl::Status CreateFile(const std::string& path) {
  const std::string draft = absl::StrCat(path, ".", RandomHex128());
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("create", path, errno);
  const absl::Cleanup remove_draft = [&] { unlink(draft.c_str()); };
  int error = WriteAndSync(fd, NewFileText());
  close(fd);
  if (error == 0 && link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) error = errno;
  if (error == 0) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    error = SyncFolder(folder.empty() ? "." : folder);
  }
  return error == 0 ? absl::OkStatus() : FileError("create", path, error);
}

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return FileError("read", path, errno);
  const absl::Cleanup close_file = [fd] { close(fd); };
  struct stat info = {};
  if (fstat(fd, &info) != 0) return FileError("read", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("the token file ", path, " is no file"));
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("others than its owner have access to the token file ", path,
                     "; run chmod 600 on it, and renew the tokens if "
                     "somebody may have read them"));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno != EINTR) return FileError("read", path, errno);
    if (got == 0) break;
    if (got > 0) size += static_cast<size_t>(got);
  }
  if (size > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the token file ", path, " is larger than ", kMaxFileBytes, " bytes"));
  }
  text.resize(size);
  return text;
}

}  // namespace

absl::StatusOr<TokenFile> ParseTokenFile(absl::string_view text) {
  Parser parser;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    if (const absl::Status added = parser.Add(line); !added.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", added.message()));
    }
  }
  return std::move(parser).Finish();
}

absl::StatusOr<TokenFile> LoadOrCreateTokenFile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadPrivateFile(path);
  if (absl::IsNotFound(text.status())) {
    RETURN_IF_ERROR(CreateFile(path));
    text = ReadPrivateFile(path);
  }
  if (!text.ok()) return text.status();
  absl::StatusOr<TokenFile> file = ParseTokenFile(*text);
  if (file.ok()) return file;
  return absl::InvalidArgumentError(
      absl::StrCat("the token file ", path, " is not valid: ", file.status().message()));
}

}  // namespace callslip::gateway
