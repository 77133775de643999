// Who may read sessions, and who may change them.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;

struct Route {
  std::string method;
  std::string path;
};

// Of a session that there is not, so that none of them waits.
const std::vector<Route> kReading = {
    {"GET", "/api/sessions"},
    {"GET", "/api/sessions/x"},
    {"GET", "/api/sessions/x/events"},
    {"GET", "/api/sessions/x/queue"},
    {"GET", "/api/sessions/x/queue/m"},
    {"GET", "/api/sessions/x/queue-settings"},
    {"GET", "/api/sessions/x/permissions"},
    {"POST", "/api/sessions/x/players"},
    {"GET", "/api/players/p"},
    {"POST", "/api/players/p/next"},
    {"DELETE", "/api/players/p"},
    {"GET", "/api/players/p/play"},
    {"GET", "/api/sessions/x/ws"},
    {"GET", "/api/events/ws"},
};
const std::vector<Route> kWriting = {
    {"POST", "/api/sessions"},
    {"PATCH", "/api/sessions/x"},
    {"DELETE", "/api/sessions/x"},
    {"POST", "/api/sessions/x/end"},
    {"POST", "/api/sessions/x/resume"},
    {"POST", "/api/sessions/x/events"},
    {"POST", "/api/sessions/x/agent-text"},
    {"POST", "/api/sessions/x/queue"},
    {"DELETE", "/api/sessions/x/queue"},
    {"POST", "/api/sessions/x/queue/pop"},
    {"PATCH", "/api/sessions/x/queue/m"},
    {"DELETE", "/api/sessions/x/queue/m"},
    {"POST", "/api/sessions/x/queue/m/move"},
    {"PUT", "/api/sessions/x/queue-settings"},
    {"POST", "/api/sessions/x/queue-control"},
    {"POST", "/api/sessions/x/stop"},
    {"POST", "/api/sessions/x/turns"},
    {"POST", "/api/sessions/x/turns/t"},
    // Whoever receives a message is to send it.
    {"GET", "/api/sessions/x/messages"},
    {"POST", "/api/sessions/x/permissions"},
    {"POST", "/api/sessions/x/permissions/p"},
    {"DELETE", "/api/sessions/x/permissions"},
};

std::string TokenOf(Role role) { return absl::StrCat(RoleName(role), "-", std::string(40, '0')); }

TokenFile TokensOfAllRoles() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  for (const Role role : {Role::kClient, Role::kWorker, Role::kViewer, Role::kAdmin}) {
    file.entries.push_back({{std::string(RoleName(role)), role}, TokenOf(role)});
  }
  return file;
}

class SessionAccessTest : public testing::Test {
 protected:
  json Ask(const Route& route, Role role, const json& body = json::object()) {
    httplib::Client client(services_.gateway_address().host, services_.gateway_address().port);
    httplib::Request request;
    request.method = route.method;
    request.path = route.path;
    request.headers = {{"Authorization", "Bearer " + TokenOf(role)}};
    if (route.method != "GET" && route.method != "DELETE") {
      request.headers.emplace("Content-Type", "application/json");
      request.body = body.dump();
    }
    const httplib::Result result = client.send(request);
    EXPECT_TRUE(result) << route.path;
    if (!result || result->body.empty()) return json::object();
    return json::parse(result->body);
  }

  bool IsRefused(const Route& route, Role role) {
    return Ask(route, role).value("error", "") == "role_not_allowed";
  }

  TestServices services_{{}, TokensOfAllRoles()};
};

TEST_F(SessionAccessTest, ViewersReadAndWorkersDoNot) {
  for (const Route& route : kReading) {
    for (const Role role : {Role::kClient, Role::kViewer, Role::kAdmin}) {
      EXPECT_FALSE(IsRefused(route, role)) << route.path << " " << RoleName(role);
    }
    EXPECT_TRUE(IsRefused(route, Role::kWorker)) << route.path;
  }
}

TEST_F(SessionAccessTest, OnlyClientsAndAdminsChangeAnything) {
  for (const Route& route : kWriting) {
    for (const Role role : {Role::kClient, Role::kAdmin}) {
      EXPECT_FALSE(IsRefused(route, role)) << route.path << " " << RoleName(role);
    }
    for (const Role role : {Role::kViewer, Role::kWorker}) {
      EXPECT_TRUE(IsRefused(route, role)) << route.path << " " << RoleName(role);
    }
  }
}

TEST_F(SessionAccessTest, ViewersAndAdministratorsReachEverybodysSessions) {
  Ask({"POST", "/api/sessions"}, Role::kClient, {{"session_id", "s-1"}});
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-1"}, Role::kClient)["session_id"], "s-1");
  for (const Role role : {Role::kViewer, Role::kAdmin}) {
    EXPECT_EQ(Ask({"GET", "/api/sessions/s-1"}, role)["session_id"], "s-1");
    EXPECT_EQ(Ask({"GET", "/api/sessions/s-1/events"}, role)["events"].size(), 1u);
    EXPECT_EQ(Ask({"GET", "/api/sessions/s-1/queue"}, role).count("error"), 0u);
    EXPECT_EQ(Ask({"GET", "/api/sessions"}, role)["sessions"].size(), 0u);
    EXPECT_EQ(Ask({"GET", "/api/sessions?client=*"}, role)["sessions"].size(), 1u);
    EXPECT_EQ(Ask({"GET", "/api/sessions?client=client"}, role)["sessions"].size(), 1u);
    EXPECT_EQ(Ask({"GET", "/api/sessions?client=other"}, role)["sessions"].size(), 0u);
  }
  EXPECT_EQ(Ask({"GET", "/api/sessions?client=*"}, Role::kClient)["error"], "not_your_client");
  EXPECT_EQ(Ask({"PATCH", "/api/sessions/s-1"}, Role::kAdmin, {{"name", "x"}}).count("error"), 0u);
}

TEST_F(SessionAccessTest, ForeignSessionsAreUnknownToClients) {
  Ask({"POST", "/api/sessions"}, Role::kAdmin, {{"session_id", "s-2"}});
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-2"}, Role::kClient)["error"], "unknown_session");
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-2/events"}, Role::kClient)["error"], "unknown_session");
  EXPECT_EQ(Ask({"GET", "/api/sessions"}, Role::kClient)["sessions"].size(), 0u);
}

}  // namespace
}  // namespace callslip
