// Metrics of runners and of the agents of sessions at GET /metrics.
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/metrics_text.h"
#include "support/prometheus_text.h"
#include "tracker/metrics/tracker_metrics.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

class AgentMetricsTest : public SessionServerTest {
 protected:
  PrometheusText Scrape() {
    MetricsPage page;
    AddMetrics(server_->Statistics(), page);
    PrometheusText read(PlainMetricsText(page));
    EXPECT_EQ(read.problems(), "");
    return read;
  }
  double Agents(const std::string& status) {
    return Scrape().Sum("callslip_agents", {{"status", status}});
  }
};

TEST_F(AgentMetricsTest, AgentsAreCountedByStatus) {
  // The second session has no agent of a runner.
  ASSERT_OK(Call(&S::CreateSession, "session_id: '1' acp_server: 'claude' working_dir: '/web'"));
  ASSERT_OK(Call(&S::CreateSession, "session_id: '2'"));
  EXPECT_EQ(Scrape().Sum("callslip_agents"), 0);
  for (const char* id : {"1", "2"}) {
    ASSERT_OK(Call(&Q::AddMessage, std::string("session_id: '") + id + "' message: 'Go on.'"));
  }
  EXPECT_EQ(Agents("none"), 1);

  auto serving = Serve(
      "runner_id: 'r' max_agents: 2 agents { name: 'claude' } "
      "workspaces { name: 'web' dir: '/web' }");
  ASSERT_TRUE(serving->Next()->has_started());
  EXPECT_EQ(Scrape().Sum("callslip_runners", {{"connected", "yes"}}), 1);
  const auto needed = serving->Next();
  ASSERT_TRUE(needed.has_value() && needed->has_needed());
  const std::string by = absl::StrCat("session_id: '1' lease: ", needed->lease(), " ");
  const std::string state = by + "status: AGENT_STATUS_";
  for (const std::string status :
       {"waiting", "starting", "idle", "stopping", "stopped", "failed"}) {
    ASSERT_OK(Call(&R::SetAgentState, state + absl::AsciiStrToUpper(status)));
    EXPECT_EQ(Agents(status), 1) << status;
    EXPECT_EQ(Scrape().Sum("callslip_agents"), 1) << status;
  }
  // Its failure has paused the queue.
  ASSERT_OK(Call(&Q::ResumeQueue, "session_id: '1'"));
  ASSERT_OK(Call(&R::SetAgentState, state + "IDLE"));
  const auto receiver = Receive(by);
  const auto message = receiver->Next();
  ASSERT_TRUE(message.has_value());
  ASSERT_OK(Call(&Q::StartTurn, by + "turn_id: '" + message->turn_id() + "'"));
  EXPECT_EQ(Agents("prompting"), 1);
  ASSERT_OK(Call(&S::EndSession, "session_id: '1'"));
  EXPECT_EQ(Scrape().Sum("callslip_agents"), 0);

  serving = nullptr;
  while (Scrape().Sum("callslip_runners", {{"connected", "yes"}}) != 0) {
    // Until the tracker knows that the call has ended.
    ASSERT_OK(Call(&R::ListRunners, ""));
  }
  EXPECT_EQ(Scrape().Sum("callslip_runners", {{"connected", "no"}}), 1);
}

}  // namespace
}  // namespace callslip::tracker
