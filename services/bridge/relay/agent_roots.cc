#include "bridge/relay/agent_roots.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "bridge/relay/limits.h"
#include "common/json_members.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

constexpr absl::string_view kIdPrefix = "callslip-bridge-roots-";

absl::StatusOr<std::vector<std::string>> WorkingFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  // A bridge started by a program without a folder of its own would expose all files.
  if (error || folder == folder.root_path()) {
    return absl::FailedPreconditionError(
        "The bridge was not started in a folder, and the client names no roots.");
  }
  return std::vector<std::string>{folder.string()};
}

}  // namespace

std::optional<std::string> PathOfFileUrl(absl::string_view url) {
  if (!absl::ConsumePrefix(&url, "file://")) return std::nullopt;
  absl::ConsumePrefix(&url, "localhost");
  if (!absl::StartsWith(url, "/")) return std::nullopt;
  std::string path;
  for (size_t i = 0; i < url.size(); ++i) {
    uint32_t byte = 0;
    if (url[i] != '%') {
      path.push_back(url[i]);
    } else if (absl::SimpleHexAtoi(url.substr(i + 1, 2), &byte) && byte != 0) {
      path.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return path;
}

void AgentRoots::Start(const Message& initialize) {
  const auto message = nlohmann::json::parse(initialize.line, nullptr, /*allow_exceptions=*/false);
  MutexLock lock(&mutex_);
  has_roots_ = MemberOf(MemberOf(message, "params"), "capabilities").contains("roots");
}

bool AgentRoots::TakeAnswer(const Message& message) {
  absl::string_view number = message.id_key;
  int asked = 0;
  const bool is_ours = message.kind == Message::Kind::kResponse &&
                       absl::ConsumePrefix(&number, absl::StrCat("string:", kIdPrefix)) &&
                       absl::SimpleAtoi(number, &asked);
  if (!is_ours) return false;
  MutexLock lock(&mutex_);
  if (asked > answered_number_ && asked <= asked_) {
    answered_number_ = asked;
    answer_ = message.line;
    answered_.NotifyAll();
  }
  return true;
}

absl::StatusOr<std::vector<std::string>> AgentRoots::Folders(const Message& call,
                                                             AbortSwitch& abort) {
  bool asks = false;
  {
    MutexLock lock(&mutex_);
    // The stateless revisions have no requests from server to client.
    asks = has_roots_ && !call.is_modern;
  }
  if (!asks) return WorkingFolder();
  auto folders = Ask(abort);
  return folders.ok() && folders->empty() ? WorkingFolder() : std::move(folders);
}

absl::StatusOr<std::vector<std::string>> AgentRoots::Ask(AbortSwitch& abort) {
  bool stopped = false;  // Guarded by mutex_.
  const auto stop = [&] {
    MutexLock lock(&mutex_);
    stopped = true;
    answered_.NotifyAll();
  };
  if (!abort.BeginWait(stop)) return absl::CancelledError();
  int asked = 0;
  {
    MutexLock lock(&mutex_);
    asked = ++asked_;
  }
  writer_->WriteLine(
      absl::StrCat(R"({"jsonrpc":"2.0","id":")", kIdPrefix, asked, R"(","method":"roots/list"})"));
  std::string answer;
  {
    MutexLock lock(&mutex_);
    if (answered_number_ < asked && !stopped) answered_.WaitFor(&mutex_, kRootsPatience);
    if (answered_number_ >= asked) answer = answer_;
  }
  // Not under mutex_, which `stop` locks.
  abort.EndExchange();
  const auto message = nlohmann::json::parse(answer, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json& roots = MemberOf(MemberOf(message, "result"), "roots");
  if (!roots.is_array()) {
    return absl::FailedPreconditionError("The client did not say which folders are its roots.");
  }
  std::vector<std::string> folders;
  for (const nlohmann::json& root : roots) {
    if (auto path = PathOfFileUrl(TextOf(root, "uri"))) folders.push_back(*std::move(path));
  }
  return folders;
}

}  // namespace callslip::bridge
