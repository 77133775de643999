#include "auth/token_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "auth/sha256.h"
#include "common/file.h"
#include "common/random.h"
#include "common/status_macros.h"

namespace callslip {
namespace {

// Enough for several hundred principals.
constexpr size_t kMaxFileBytes = 64 << 10;
constexpr size_t kMinTokenBytes = 32;
constexpr size_t kMaxTokenBytes = 512;
constexpr size_t kSessionKeyBytes = 32;
constexpr size_t kMaxCertificateBytes = 253;  // The maximum of a DNS name.
constexpr size_t kMaxWorkerNameBytes = 128;

constexpr absl::string_view kCertificatePrefix = "cert:";
constexpr char kSessionKeyAdvice[] =
    "one line `session-key - HEX` with 64 hexadecimal digits, such as `openssl rand -hex 32` makes";

// The characters that RFC 6750 allows in a bearer token.
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

bool IsCertificateName(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxCertificateBytes &&
         absl::c_all_of(text, absl::ascii_isgraph);
}

// The tracker's rule for names of targets and workers.
bool IsWorkerName(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxWorkerNameBytes &&
         absl::c_all_of(text, absl::ascii_isgraph);
}

absl::Status Broken(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Parses the fields after the token: `target=a,b` and `worker=name`.
absl::StatusOr<WorkerScope> ParseScope(absl::Span<const absl::string_view> fields) {
  WorkerScope scope;
  for (absl::string_view field : fields) {
    if (absl::ConsumePrefix(&field, "target=") && scope.targets.empty()) {
      scope.targets = absl::StrSplit(field, ',');
      if (absl::c_all_of(scope.targets, IsWorkerName)) continue;
    } else if (absl::ConsumePrefix(&field, "worker=") && scope.worker_id.empty()) {
      scope.worker_id = std::string(field);
      if (IsWorkerName(scope.worker_id)) continue;
    }
    return Broken("only `target=NAME,NAME` and `worker=NAME` may follow the token, once each");
  }
  return scope;
}

// Parses line by line and remembers the values that must be unique.
class Parser {
 public:
  // Adds `line`; returns an error that describes what is wrong with it.
  absl::Status Add(absl::string_view line) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.size() < 3) return Broken("it must be ROLE NAME TOKEN");
    if (fields[0] == "session-key") return AddSessionKey(fields);
    TokenFile::Entry entry;
    ASSIGN_OR_RETURN(entry.principal, PrincipalOf(fields));
    const absl::string_view secret = fields[2];
    if (!secrets_.insert(secret).second) return Broken("another line has the same token");
    if (absl::StartsWith(secret, kCertificatePrefix)) {
      entry.certificate = std::string(absl::StripPrefix(secret, kCertificatePrefix));
      if (!IsCertificateName(entry.certificate)) {
        return Broken("after cert: comes a name of the certificate, without spaces");
      }
    } else if (IsToken(secret)) {
      entry.token = std::string(secret);
    } else {
      return Broken("a token is 32 to 512 characters of A-Z, a-z, 0-9 and -._~+/=");
    }
    file_.entries.push_back(std::move(entry));
    return absl::OkStatus();
  }

  absl::StatusOr<TokenFile> Finish() && {
    if (file_.entries.empty()) {
      return Broken("it holds no token; delete the file to have a new one made");
    }
    return std::move(file_);
  }

 private:
  absl::StatusOr<Principal> PrincipalOf(const std::vector<absl::string_view>& fields) {
    const std::optional<Role> role = ParseRole(fields[0]);
    if (!role.has_value()) {
      RoleSet roles;
      for (const Role known : kTokenRoles) roles.Add(known);
      return Broken(absl::StrCat("it must begin with session-key, ", RoleNames(roles)));
    }
    if (!IsPrincipalName(fields[1])) {
      return Broken("a name is 1 to 64 characters of a-z, 0-9, '.', '_' and '-'");
    }
    if (fields[1] == kLocalName) return Broken("`local` is the name of callers without a token");
    if (IsProviderName(fields[1])) {
      return Broken(
          "names that begin with oauth- or oauth_ are for those who come with a token of "
          "an authorization server");
    }
    ASSIGN_OR_RETURN(WorkerScope scope, ParseScope(absl::MakeSpan(fields).subspan(3)));
    if (role != Role::kWorker && fields.size() > 3) {
      return Broken("only a worker is held to targets and a name");
    }
    Principal principal{std::string(fields[1]), *role, std::move(scope)};
    const auto [known, is_new] = principals_.try_emplace(fields[1], principal);
    if (!is_new && known->second != principal) {
      return Broken("another line has the same name and something else of it");
    }
    return principal;
  }

  absl::Status AddSessionKey(const std::vector<absl::string_view>& fields) {
    if (!file_.session_key.empty() || fields.size() != 3 || !IsSessionKey(fields[2])) {
      return Broken(absl::StrCat("there must be ", kSessionKeyAdvice));
    }
    file_.session_key = absl::HexStringToBytes(fields[2]);
    return absl::OkStatus();
  }

  TokenFile file_;
  absl::flat_hash_map<absl::string_view, Principal> principals_;  // By name.
  absl::flat_hash_set<absl::string_view> secrets_;
};

absl::Status FileError(absl::string_view what, const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", what, " the token file ", path));
}

std::string NewFileText() {
  std::string text =
      "# Callers of the gateway and the tracker, one per line: ROLE NAME TOKEN. Keep this file "
      "secret.\n"
      "# Changes take effect at once.\n";
  for (const absl::string_view principal : {"client agent", "worker extension", "viewer viewer",
                                            "admin admin", "runner runner", "gateway gateway"}) {
    absl::StrAppend(&text, principal, " ", NewToken(), "\n");
  }
  absl::StrAppend(
      &text,
      "# Signs the ids of MCP sessions. The gateways behind one address need the same one.\n",
      "session-key - ", NewToken(), "\n");
  return text;
}

// 0, or the errno of the step that failed.
int SyncFolder(const std::string& path) {
  const File folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.is_open() && fsync(folder.descriptor()) == 0 ? 0 : errno;
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Writes a draft next to `path`, then has `put` move it there, so that readers see only whole
// files. The draft gets the owner of `owner` if not null. 0, or the errno of the step that failed.
int WriteBeside(const std::string& path, absl::string_view text, const struct stat* owner,
                const std::function<int(const std::string& draft)>& put) {
  const std::string draft = absl::StrCat(path, ".", RandomHex128());
  File file(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return errno;
  const absl::Cleanup remove_draft = [&] { unlink(draft.c_str()); };
  int error = 0;
  if (owner != nullptr && (owner->st_uid != geteuid() || owner->st_gid != getegid()) &&
      fchown(file.descriptor(), owner->st_uid, owner->st_gid) != 0) {
    error = errno;
  }
  if (error == 0 && (!WriteAll(file, text) || fsync(file.descriptor()) != 0)) error = errno;
  file.Close();
  if (error == 0 && put(draft) != 0) error = errno;
  return error == 0 ? SyncFolder(FolderOf(path)) : error;
}

// Never replaces a file that another program has created meanwhile.
absl::Status CreateFile(const std::string& path) {
  const int error = WriteBeside(path, NewFileText(), nullptr, [&](const std::string& draft) {
    const int linked = link(draft.c_str(), path.c_str());
    return linked != 0 && errno == EEXIST ? 0 : linked;
  });
  return error == 0 ? absl::OkStatus() : FileError("create", path, error);
}

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe would wait for a writer.
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return FileError("read", path, errno);
  struct stat info = {};
  if (fstat(file.descriptor(), &info) != 0) return FileError("read", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("the token file ", path, " is not a file"));
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "others than its owner have access to the token file ", path,
        "; run chmod 600 on it, and replace the tokens if another user may have read them"));
  }
  std::string text;
  if (ReadAll(file, kMaxFileBytes, text)) return text;
  if (errno != EFBIG) return FileError("read", path, errno);
  return absl::InvalidArgumentError(
      absl::StrCat("the token file ", path, " is larger than ", kMaxFileBytes, " bytes"));
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

absl::StatusOr<TokenFile> LoadTokenFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadPrivateFile(path));
  absl::StatusOr<TokenFile> file = ParseTokenFile(text);
  if (file.ok()) return file;
  return absl::InvalidArgumentError(
      absl::StrCat("the token file ", path, " is not valid: ", file.status().message()));
}

absl::StatusOr<TokenFile> LoadOrCreateTokenFile(const std::string& path) {
  absl::StatusOr<TokenFile> file = LoadTokenFile(path);
  if (!absl::IsNotFound(file.status())) return file;
  RETURN_IF_ERROR(CreateFile(path));
  return LoadTokenFile(path);
}

absl::Status SessionKeyMissing(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the token file ", path, " has no key for the ids of sessions: add ", kSessionKeyAdvice));
}

absl::Status EditTokenFile(
    const std::string& path,
    const std::function<absl::StatusOr<std::string>(const std::string& text)>& edit) {
  const File folder(open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return FileError("change", path, errno);
  if (flock(folder.descriptor(), LOCK_EX) != 0) return FileError("change", path, errno);
  RETURN_IF_ERROR(LoadTokenFile(path).status());
  ASSIGN_OR_RETURN(const std::string before, ReadPrivateFile(path));
  ASSIGN_OR_RETURN(const std::string after, edit(before));
  if (after.size() > kMaxFileBytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the token file ", path, " would be larger than ", kMaxFileBytes, " bytes"));
  }
  RETURN_IF_ERROR(ParseTokenFile(after).status());
  struct stat owner = {};
  if (stat(path.c_str(), &owner) != 0) return FileError("change", path, errno);
  const int error = WriteBeside(path, after, &owner, [&](const std::string& draft) {
    return rename(draft.c_str(), path.c_str());
  });
  return error == 0 ? absl::OkStatus() : FileError("change", path, error);
}

std::string DescribePrincipal(const Principal& principal) {
  std::string text = absl::StrCat(RoleName(principal.role), " ", principal.name);
  if (!principal.scope.targets.empty()) {
    absl::StrAppend(&text, " target=", absl::StrJoin(principal.scope.targets, ","));
  }
  if (!principal.scope.worker_id.empty()) {
    absl::StrAppend(&text, " worker=", principal.scope.worker_id);
  }
  return text;
}

std::string TokenFingerprint(absl::string_view token) {
  const Sha256Digest digest = Sha256(token);
  return absl::BytesToHexString(AsBytes(digest).substr(0, 6));
}

std::string NewToken() { return absl::StrCat(RandomHex128(), RandomHex128()); }

}  // namespace callslip
