// The dashboard and the alert rules use existing metrics of tracker and gateway: a renamed metric
// that is still used under its old name fails here.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "common/config.h"
#include "common/metrics_text.h"
#include "common/status_matchers.h"
#include "gateway/memory_budget.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/prometheus_text.h"
#include "support/test_services.h"
#include "tracker/metrics/memory_budget.h"
#include "tracker/metrics/tracker_metrics.h"
#include "yaml-cpp/yaml.h"

namespace callslip {
namespace {

using nlohmann::json;

std::string FileText(const std::string& name) {
  std::ifstream file(std::string(CALLSLIP_DEPLOY_DIR "/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> NamesIn(const std::string& text) {
  static const std::regex kName("(?:callslip|process)_[a-z_]+");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it) {
    names.insert(it->str());
  }
  return names;
}

// The metrics after a completed command.
class DeployTest : public testing::Test {
 protected:
  DeployTest() {
    (void)services_.ToolAnswer("interact", {{"action", "execute_js"}, {"script", "1"}});
    const json queries = services_.Get("/pending-queries?target=&worker=w1").body;
    json outcome = {{"status", "complete"}, {"result", 1}};
    outcome["id"] = queries.at(0).at("id");
    outcome["correlation_id"] = queries.at(0).at("correlation_id");
    EXPECT_EQ(services_.Post("/query-result", outcome.dump()).status, 200);

    httplib::Client client(services_.gateway_address().host, services_.gateway_address().port);
    gateway_ = client.Get("/metrics")->body;
    MetricsPage page;
    page.Process();
    const tracker::TrackerStatistics statistics = services_.tracker().Statistics();
    tracker::AddMetrics(statistics, page);
    tracker::AddCell({.may_answer = true, .epoch = 1}, page);
    tracker::AddMemory({}, tracker::MemoryUseOf(statistics), page);
    tracker_ = PlainMetricsText(page);
  }

  std::set<std::string> Told() const {
    std::set<std::string> names = PrometheusText(gateway_).Names();
    names.merge(PrometheusText(tracker_).Names());
    return names;
  }

  void ExpectTold(const std::set<std::string>& asked) const {
    const std::set<std::string> told = Told();
    for (const std::string& name : asked) EXPECT_TRUE(told.contains(name)) << name;
  }

  TestServices services_;
  std::string gateway_;
  std::string tracker_;
};

TEST_F(DeployTest, DashboardUsesExistingMetrics) {
  const json dashboard = json::parse(FileText("grafana/callslip.json"));
  std::set<std::string> asked;
  int targets = 0;
  for (const json& panel : dashboard["panels"]) {
    EXPECT_FALSE(panel["title"].get<std::string>().empty());
    for (const json& target : panel.value("targets", json::array())) {
      asked.merge(NamesIn(target["expr"].get<std::string>()));
      ++targets;
    }
  }
  EXPECT_GT(targets, 30);
  ExpectTold(asked);
}

TEST_F(DeployTest, EveryMetricFamilyIsDocumented) {
  const std::string known = FileText("../docs/operations.md");
  for (const std::string& text : {gateway_, tracker_}) {
    static const std::regex kFamily("# TYPE ([a-z_]+) ");
    for (std::sregex_iterator it(text.begin(), text.end(), kFamily), end; it != end; ++it) {
      const std::string family = (*it)[1];
      EXPECT_NE(known.find("`" + family), std::string::npos) << family << " is not documented";
    }
  }
}

TEST_F(DeployTest, AlertsUseExistingMetricsAndAreDocumented) {
  const YAML::Node groups = YAML::Load(FileText("prometheus/alerts.yml"))["groups"];
  const std::string known = FileText("../docs/operations.md");
  std::set<std::string> asked;
  std::set<std::string> alerts;
  for (const YAML::Node& group : groups) {
    for (const YAML::Node& rule : group["rules"]) {
      const std::string alert = rule["alert"].as<std::string>();
      EXPECT_TRUE(alerts.insert(alert).second) << alert;
      asked.merge(NamesIn(rule["expr"].as<std::string>()));
      EXPECT_FALSE(rule["annotations"]["summary"].as<std::string>().empty());
      EXPECT_FALSE(rule["labels"]["severity"].as<std::string>().empty());
      EXPECT_NE(known.find("`" + alert + "`"), std::string::npos) << alert << " is not documented";
    }
  }
  EXPECT_GT(alerts.size(), 20u);
  ExpectTold(asked);
}

// The memory setting of each program is what its container or unit has, and enough for its limits.
TEST(DeployMemoryTest, MemorySettingsMatchContainerAndUnitLimits) {
  const YAML::Node compose = YAML::Load(FileText("../docker-compose.yml"))["services"];
  for (const std::string name : {"tracker", "gateway"}) {
    const auto of = [&](const std::optional<int64_t>& told, const std::optional<int64_t>& given) {
      ASSERT_TRUE(told.has_value()) << name;
      EXPECT_EQ(told, given) << name;
      EXPECT_OK(name == "tracker" ? tracker::MemoryBudget::Of(*told).status()
                                  : gateway::MemoryBudget::Of(*told).status());
    };
    const YAML::Node service = compose[name];
    of(ParseBytes(service["environment"]["CALLSLIP_MEMORY"].as<std::string>()),
       ParseBytes(service["mem_limit"].as<std::string>()));

    const YAML::Node settings = YAML::Load(FileText("debian/" + name + ".yaml"));
    const std::string unit = FileText("debian/callslip-" + name + ".service");
    static const std::regex kMax("\nMemoryMax=([0-9A-Z]+)\n");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(unit, found, kMax)) << name;
    of(ParseBytes(settings["memory"].as<std::string>()), ParseBytes(found[1].str()));
  }
}

// The documentation of memory names each table.
TEST(DeployMemoryTest, EveryTableIsDocumented) {
  const std::string known = FileText("../docs/operations.md");
  const auto expect = [&](const char* table) {
    EXPECT_NE(known.find(std::string("`") + table + "`"), std::string::npos) << table;
  };
  for (const auto& share : tracker::MemoryBudget().Shares()) expect(share.table);
  for (const auto& share : gateway::MemoryBudget().Shares()) expect(share.table);
}

TEST_F(DeployTest, AlertsNameExistingCodes) {
  const std::string alerts = FileText("prometheus/alerts.yml");
  for (const char* code : {"result_expired", "worker_lost", "extension_no_response"}) {
    EXPECT_NE(alerts.find(code), std::string::npos);
    EXPECT_NE(std::find(tracker::kEndCodes.begin(), tracker::kEndCodes.end(), code),
              tracker::kEndCodes.end());
  }
}

// Prometheus' own checks, if promtool is installed.
TEST_F(DeployTest, PromtoolFindsNoProblems) {
  if (std::system("command -v promtool > /dev/null") != 0) {
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  }
  for (const std::string& text : {gateway_, tracker_}) {
    FILE* promtool = popen("promtool check metrics", "w");
    ASSERT_NE(promtool, nullptr);
    std::fwrite(text.data(), 1, text.size(), promtool);
    EXPECT_EQ(pclose(promtool), 0);
  }
  EXPECT_EQ(std::system("promtool check rules " CALLSLIP_DEPLOY_DIR "/prometheus/alerts.yml"), 0);
  EXPECT_EQ(std::system("promtool check config " CALLSLIP_DEPLOY_DIR "/prometheus/prometheus.yml"),
            0);
}

}  // namespace
}  // namespace callslip
