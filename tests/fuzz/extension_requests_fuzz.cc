// Posts of extensions, of whatever origin: the first byte chooses the parser for the rest. On any
// input the parsers return, and their results are within the tracker's limits.
#include <cstdint>
#include <string>

#include "fuzz/require.h"
#include "gateway/extension/browser_log.h"
#include "gateway/extension/query_result.h"
#include "gateway/extension/sync_command.h"
#include "gateway/extension/sync_request.h"
#include "gateway/extension/worker_status.h"

namespace callslip::gateway {
namespace {

// The tracker's limits; tests/integration keeps both sides consistent.
constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxContextBytes = 8 << 10;
constexpr size_t kMaxTabsBytes = 256 << 10;

void TakeSync(const std::string& body) {
  const auto sync = ParseSync({.headers = {{"x-kaboom-client", body}}, .body = body});
  if (!sync.ok()) return;
  Require(!sync->worker_id.empty() && sync->worker_id.size() <= kMaxNameBytes, "a name");
  Require(sync->report.tabs().size() <= kMaxTabsBytes, "bounded tabs");
  Require(sync->results.size() <= 200 && sync->heartbeats.size() <= 20, "a bounded number");
  for (const auto& result : sync->results) {
    Require(!result.command_id().empty(), "an id");
    Require(result.context().size() <= kMaxContextBytes, "a bounded context");
    Require(result.outcome_case() != v1::CompleteCommandRequest::OUTCOME_NOT_SET, "an outcome");
    Require(!result.SerializeAsString().empty(), "text in UTF-8");
  }
  v1::CommandLease lease;
  lease.mutable_command()->set_params(body);
  (void)SyncCommand(lease, *sync);
}

void TakeScreenshot(const std::string& body) {
  const auto json = ParseJson(body);
  if (!json.ok()) return;
  (void)LogEntries(*json);
  const auto result = ScreenshotResult(*json);
  if (result.has_value()) Require(!result->SerializeAsString().empty(), "text in UTF-8");
}

void TakeStatus(const std::string& body) {
  const auto report = ParseWorkerStatus(body);
  if (report.ok()) Require(report->report().tabs().size() <= kMaxTabsBytes, "bounded tabs");
}

}  // namespace
}  // namespace callslip::gateway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace callslip::gateway;
  if (size == 0) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: TakeSync(body); break;
    case 1: TakeScreenshot(body); break;
    case 2: TakeStatus(body); break;
    default: (void)ParseQueryResult(body);
  }
  return 0;
}
