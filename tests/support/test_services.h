#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/address.h"
#include "common/fake_clock.h"
#include "gateway/gateway_server.h"
#include "nlohmann/json.hpp"
#include "support/temporary_folder.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/rpc/command_log.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/measured_disk.h"

namespace callslip {

// A tracker and a gateway in this process, connected over a unix socket. The tracker runs on a fake
// clock. Tests may read its table, for values that no API returns.
class TestServices {
 public:
  // The ports and the tracker in `config` are replaced.
  explicit TestServices(gateway::GatewayConfig config = {},
                        const std::optional<TokenFile>& token_file = std::nullopt);
  ~TestServices();

  // Aborts with a message on failure.
  void StartTracker();  // At the same address as before, without commands, with the same sessions.
  void StopTracker();

  // Drains and ends the gateway, which cannot be started again.
  void StopGateway(absl::Duration grace = absl::Seconds(10));

  FakeClock& clock() { return clock_; }
  tracker::CommandTable& table() { return tracker_->table; }
  tracker::TrackerServer& tracker() { return tracker_->server; }
  const Address& tracker_address() const { return tracker_address_; }
  const Address& gateway_address() const { return gateway_address_; }
  gateway::GatewayServer& gateway() { return *gateway_; }
  // The id of the MCP session that Post() uses.
  const std::string& session_id() const { return session_id_; }

  struct Answer {
    int status = 0;
    nlohmann::json body;  // Null where there is none.
    std::string header_allow;
    std::string header_retry_after;
    std::string header_session_id;
  };
  // One request over its own connection, by a third-party HTTP client.
  Answer Get(const std::string& target) const;
  // In an MCP session of 2025-11-25, unless `headers` say otherwise.
  Answer Post(const std::string& path, const std::string& body) const;
  Answer Post(const std::string& path, const std::string& body,
              const std::map<std::string, std::string>& headers) const;

  // Calls a tool over POST /mcp and returns its CallToolResult.
  nlohmann::json CallTool(const std::string& name, const nlohmann::json& arguments) const;
  // Its structuredContent.
  nlohmann::json ToolAnswer(const std::string& name, const nlohmann::json& arguments) const;

  // Returns as soon as the tracker holds `count` waits and held polls. Each check is a call to the
  // tracker: it waits for the tracker's progress and not for a time.
  void AwaitWaits(int64_t count);

 private:
  struct Tracker {
    Tracker(Clock* clock, const std::string& data_dir);

    tracker::MeasuredDisk disk;
    std::unique_ptr<tracker::FileSessionStorage> storage;
    std::unique_ptr<tracker::SessionTable> sessions;
    tracker::CommandLog log;
    tracker::CommandTable table;
    tracker::DeadlineThread deadlines;
    tracker::TrackerServer server;
  };

  FakeClock clock_;
  const TemporaryFolder data_dir_;
  const TemporaryFolder socket_dir_;
  Address tracker_address_;
  std::unique_ptr<Tracker> tracker_;
  std::unique_ptr<gateway::GatewayServer> gateway_;
  Address gateway_address_;
  std::string session_id_;
};

}  // namespace callslip
