#include "bridge/doctor/links_beyond_tracker.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bridge/http/abort_switch.h"
#include "bridge/http/mcp_headers.h"
#include "bridge/relay/gateway_answer.h"
#include "common/clock.h"
#include "common/json_members.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using Json = nlohmann::json;
using State = Link::State;

// A worker that was silent for less than this may have been suspended by its browser, and may come
// back.
constexpr int64_t kMaxSuspendedMs = 60'000;

constexpr char kMeta[] =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"callslip-doctor","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";
constexpr char kCommandHint[] = "Call analyze {what: \"page\", wait_ms: 5000}.";
constexpr char kExtensionHint[] =
    "Is the browser open, the extension loaded, and the gateway's address (and token) in its "
    "options?";

constexpr char kRunnerHint[] =
    "For sessions with agents: start one with `callslip-runner --agent 'opencode acp' --dir .`, or "
    "name agents in the runner.yaml of the one that is there.";
constexpr char kAgentsHint[] =
    "`callslip-runner check` with the runner's own --runner-file says what to do about each.";

// The workers from observe {what: "workers"}; nullopt if the gateway does not report them.
std::optional<Json> Workers(GatewayClient& gateway) {
  const Message request =
      RequestOfDoctor("tools/call", R"("name":"observe","arguments":{"what":"workers"},)");
  Exchange exchange = SendOfDoctor(gateway, request);
  const auto found =
      FindAnswer(exchange.head, std::move(exchange.body), request, gateway.url().ToString());
  const auto* answer = std::get_if<Message>(&found);
  if (answer == nullptr) return std::nullopt;
  const Json json = Json::parse(answer->line, nullptr, /*allow_exceptions=*/false);
  const Json& content = MemberOf(MemberOf(json, "result"), "structuredContent");
  const Json& workers = MemberOf(MemberOf(content, "result"), "workers");
  return workers.is_array() ? std::optional(workers) : std::nullopt;
}

int64_t NumberOf(const Json& json, const char* member, int64_t fallback) {
  const Json& number = MemberOf(json, member);
  return number.is_number_integer() ? number.get<int64_t>() : fallback;
}

// `Work laptop 0.1.0 for target "browser"`.
std::string NameOf(const Json& worker) {
  const std::string name = TextOf(worker, "name");
  return absl::StrCat(name.empty() ? TextOf(worker, "worker") : name, " ",
                      TextOf(worker, "version"), " for target \"", TextOf(worker, "target"), "\"");
}

// Adds the workers that would accept a command now to `usable`.
Link Extension(const Json& workers, std::vector<Json>& usable) {
  Link link = {.name = "extension", .state = State::kBroken, .hint = kExtensionHint};
  bool paused = false;
  int64_t silent_ms = kMaxSuspendedMs;
  for (const Json& worker : workers) {
    silent_ms = std::min(silent_ms, NumberOf(worker, "last_seen_ms_ago", kMaxSuspendedMs));
    if (!IsTrue(worker, "connected")) continue;
    if (IsTrue(worker, "paused")) {
      paused = true;
    } else {
      absl::StrAppend(&link.detail, link.detail.empty() ? "" : "; ", NameOf(worker));
      usable.push_back(worker);
    }
  }
  if (!usable.empty()) {
    link.state = State::kOk;
    link.hint.clear();
  } else if (paused) {
    link.detail = "is connected, and its user has paused it";
    link.hint = "Ask the user to resume it.";
  } else if (silent_ms < kMaxSuspendedMs) {
    link.state = State::kUnknown;
    link.detail = absl::StrCat("was last heard of ", silent_ms / 1000, " s ago");
    link.hint = "The browser may have suspended it: it then comes back within a minute.";
  } else {
    link.detail = "no browser extension is connected to the gateway";
  }
  return link;
}

Link Tab(const std::vector<Json>& usable) {
  Link link = {.name = "tab", .detail = "only a command can show it", .hint = kCommandHint};
  int64_t tabs = 0;
  bool told = false;
  std::string active;
  for (const Json& worker : usable) {
    const Json& list = MemberOf(worker, "tabs");
    if (!list.is_array()) continue;
    told = true;
    tabs += static_cast<int64_t>(list.size()) + NumberOf(worker, "more_tabs", 0);
    for (const Json& tab : list) {
      if (IsTrue(tab, "active") && active.empty()) active = TextOf(tab, "url");
    }
  }
  if (!told) return link;
  link.state = tabs == 0 ? State::kBroken : State::kOk;
  link.detail = absl::StrCat(tabs, tabs == 1 ? " tab" : " tabs",
                             active.empty() ? "" : absl::StrCat("; in front: ", active));
  link.hint = tabs == 0 ? "Open a page in the browser." : "";
  return link;
}

// The runner of sessions' agents, which many users do not need.
Link Runner(GatewayClient& gateway, bool askable) {
  Link link = {.name = "runner", .detail = "the gateway could not be asked"};
  if (!askable) return link;
  const Exchange exchange = gateway.Ask("GET", "/api/agents", {}, kDoctorPatience);
  const Json json = Json::parse(exchange.body, nullptr, /*allow_exceptions=*/false);
  if (exchange.head.status != 200 || !json.is_object() || !json.contains("agents")) {
    link.detail = "the gateway does not report its agents";
    return link;
  }
  std::vector<std::string> fit;
  std::vector<std::string> unfit;
  for (const Json& agent : json["agents"]) {
    if (!agent.is_object()) continue;
    const std::string problem = TextOf(agent, "problem");
    const std::string name = TextOf(agent, "name");
    if (problem.empty()) {
      fit.push_back(name);
    } else {
      unfit.push_back(absl::StrCat(name, ": ", problem));
    }
  }
  if (!fit.empty()) {
    link.state = State::kOk;
    link.detail = absl::StrCat("runs ", absl::StrJoin(fit, ", "));
    if (!unfit.empty()) absl::StrAppend(&link.detail, "; not ", absl::StrJoin(unfit, "; "));
  } else if (!unfit.empty()) {
    link.state = State::kBroken;
    link.detail = absl::StrCat("can start no agent: ", absl::StrJoin(unfit, "; "));
  } else {
    link.state = State::kNone;
    link.detail = "no runner with an agent is connected to the tracker";
    link.hint = kRunnerHint;
  }
  if (!unfit.empty()) link.hint = kAgentsHint;
  return link;
}

}  // namespace

Message RequestOfDoctor(absl::string_view method, absl::string_view params) {
  return ParseMessage(absl::StrCat(R"({"jsonrpc":"2.0","id":"doctor","method":")", method,
                                   R"(","params":{)", params, kMeta, "}}"));
}

Exchange SendOfDoctor(GatewayClient& gateway, const Message& request) {
  RealClock clock;
  AbortSwitch abort(&clock);
  return gateway.Post(request.line, MirroredHeaders(request), kDoctorPatience, abort,
                      [](const ResponseHead&, absl::string_view) { return false; });
}

void AddLinksBeyondTracker(GatewayClient& gateway, bool askable, std::vector<Link>& links) {
  const std::optional<Json> workers = askable ? Workers(gateway) : std::nullopt;
  if (!workers.has_value()) {
    const std::string detail =
        askable ? "the gateway does not report its workers" : "the gateway could not be asked";
    links.push_back({.name = "extension", .detail = detail, .hint = kExtensionHint});
    links.push_back({.name = "tab", .detail = detail, .hint = kCommandHint});
  } else {
    std::vector<Json> usable;
    links.push_back(Extension(*workers, usable));
    links.push_back(Tab(usable));
  }
  links.push_back(Runner(gateway, askable));
}

}  // namespace callslip::bridge
