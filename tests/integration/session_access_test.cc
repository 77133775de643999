// Who may read sessions, and who may change them.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/test_services.h"
#include "support/web_socket_client.h"

namespace callslip {
namespace {

using nlohmann::json;

struct Route {
  std::string method;
  std::string path;
};

// Routes of a session that does not exist, so that no request waits.
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
    // The receiver of a message has to send it.
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

TEST_F(SessionAccessTest, OnlyClientsAndAdminsCanChangeSessions) {
  for (const Route& route : kWriting) {
    for (const Role role : {Role::kClient, Role::kAdmin}) {
      EXPECT_FALSE(IsRefused(route, role)) << route.path << " " << RoleName(role);
    }
    for (const Role role : {Role::kViewer, Role::kWorker}) {
      EXPECT_TRUE(IsRefused(route, role)) << route.path << " " << RoleName(role);
    }
  }
}

TEST_F(SessionAccessTest, ViewersAndAdminsReachSessionsOfAllClients) {
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

// A route of the lists above, for an existing session and message.
Route About(Route route, const std::string& session, const std::string& message) {
  absl::StrReplaceAll({{"/x", "/" + session}, {"/queue/m", "/queue/" + message}}, &route.path);
  return route;
}

TEST_F(SessionAccessTest, ViewerCannotChangeVisibleSession) {
  Ask({"POST", "/api/sessions"}, Role::kClient, {{"session_id", "s-1"}});
  const json queued =
      Ask({"POST", "/api/sessions/s-1/queue"}, Role::kClient, {{"message", "wait"}});
  const auto all_of_it = [&] {
    json all;
    for (const char* part : {"", "/events", "/queue", "/queue-settings", "/permissions"}) {
      all.push_back(Ask({"GET", absl::StrCat("/api/sessions/s-1", part)}, Role::kClient));
    }
    return all;
  };
  const json before = all_of_it();
  EXPECT_EQ(before[2]["count"], 1);
  const json body = {
      {"name", "x"},        {"message", "x"},
      {"text", "x"},        {"iteration", 0},
      {"position", 0},      {"action", "pause"},
      {"enabled", false},   {"title", "x"},
      {"option_id", "yes"}, {"options", {{{"option_id", "yes"}, {"name", "Yes"}, {"kind", ""}}}},
      {"wait_ms", 0},       {"events", {{{"type", "x"}, {"data", json::object()}}}}};
  for (const Route& route : kWriting) {
    const json answer = Ask(About(route, "s-1", queued["id"]), Role::kViewer, body);
    EXPECT_EQ(answer.value("error", ""), "role_not_allowed") << route.method << " " << route.path;
  }
  EXPECT_EQ(all_of_it(), before);
}

TEST_F(SessionAccessTest, AdminActsOnSessionOfAnotherClient) {
  Ask({"POST", "/api/sessions"}, Role::kClient, {{"session_id", "s-1"}});
  Ask({"POST", "/api/sessions/s-1/queue"}, Role::kAdmin, {{"message", "do it"}});
  Ask({"POST", "/api/sessions/s-1/queue-control"}, Role::kAdmin,
      {{"action", "pause"}, {"reason", "lunch"}});
  const json session = Ask({"GET", "/api/sessions/s-1"}, Role::kClient);
  EXPECT_EQ(session["client_id"], "client");
  EXPECT_EQ(session["queue_length"], 1);
  EXPECT_EQ(session["pause_reason"], "lunch");
  const json asked = Ask({"POST", "/api/sessions/s-1/permissions"}, Role::kClient,
                         {{"title", "May I?"},
                          {"wait_ms", 0},
                          {"options", {{{"option_id", "yes"}, {"name", "Yes"}, {"kind", ""}}}}});
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-1"}, Role::kViewer)["open_permissions"], 1);
  const std::string permission = asked["permission_id"];
  EXPECT_EQ(Ask({"POST", "/api/sessions/s-1/permissions/" + permission}, Role::kAdmin,
                {{"option_id", "yes"}})["status"],
            "answered");
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-1"}, Role::kViewer)["open_permissions"], 0);
}

TEST_F(SessionAccessTest, EventSocketReportsOnlyAllowedSessions) {
  struct Watch {
    Role role;
    std::string query;
    std::string first;  // The type of its first message,
    std::string next;   // and of the next one.
  };
  const std::vector<Watch> watches = {
      {Role::kViewer, "?client=*", "connected", "session_created"},
      {Role::kViewer, "?client=client", "connected", "session_created"},
      {Role::kAdmin, "?client=*", "connected", "session_created"},
      {Role::kClient, "", "connected", "session_created"},
      {Role::kClient, "?client=client", "connected", "session_created"},
      // Sessions of its own: there are none.
      {Role::kViewer, "", "connected", ""},
      {Role::kAdmin, "?client=other", "connected", ""},
      {Role::kClient, "?client=*", "request_failed", ""},
      {Role::kClient, "?client=admin", "request_failed", ""},
  };
  std::vector<std::unique_ptr<gateway::WebSocketClient>> sockets;
  for (const Watch& watch : watches) {
    sockets.push_back(std::make_unique<gateway::WebSocketClient>(services_.gateway_address().port));
    sockets.back()->Send(gateway::WebSocketClient::UpgradeRequest(
        "/api/events/ws" + watch.query, "Authorization: Bearer " + TokenOf(watch.role) + "\r\n",
        services_.gateway_address().ToString()));
    sockets.back()->ReadTo("\r\n\r\n");
    EXPECT_EQ(json::parse(sockets.back()->ReadText())["type"], watch.first) << watch.query;
  }
  Ask({"POST", "/api/sessions"}, Role::kClient, {{"session_id", "s-1"}});
  for (size_t i = 0; i < watches.size(); ++i) {
    if (watches[i].first != "connected") continue;
    // A socket without notices gets this answer next.
    if (watches[i].next.empty()) sockets[i]->SendText("{}");
    const json told = json::parse(sockets[i]->ReadText());
    EXPECT_EQ(told["type"], watches[i].next.empty() ? "keepalive_ack" : watches[i].next)
        << RoleName(watches[i].role) << watches[i].query;
    if (watches[i].next.empty()) continue;
    EXPECT_EQ(told["data"]["client_id"], "client");
  }
}

TEST_F(SessionAccessTest, ViewerSocketShowsSessionButCannotAnswer) {
  Ask({"POST", "/api/sessions"}, Role::kClient, {{"session_id", "s-1"}});
  Ask({"POST", "/api/sessions/s-1/permissions"}, Role::kClient,
      {{"permission_id", "p-1"},
       {"title", "May I?"},
       {"wait_ms", 0},
       {"options", {{{"option_id", "yes"}, {"name", "Yes"}, {"kind", ""}}}}});
  gateway::WebSocketClient socket(services_.gateway_address().port);
  socket.Send(gateway::WebSocketClient::UpgradeRequest(
      "/api/sessions/s-1/ws", "Authorization: Bearer " + TokenOf(Role::kViewer) + "\r\n",
      services_.gateway_address().ToString()));
  socket.ReadTo("\r\n\r\n");
  EXPECT_EQ(json::parse(socket.ReadText())["data"]["permissions"].size(), 1u);
  socket.SendText(
      R"({"type":"permission_answer","data":{"permission_id":"p-1","option_id":"yes"}})");
  EXPECT_EQ(json::parse(socket.ReadText())["data"]["error"], "role_not_allowed");
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-1"}, Role::kClient)["open_permissions"], 1);
}

TEST_F(SessionAccessTest, SessionsOfOthersAreUnknownToClients) {
  Ask({"POST", "/api/sessions"}, Role::kAdmin, {{"session_id", "s-2"}});
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-2"}, Role::kClient)["error"], "unknown_session");
  EXPECT_EQ(Ask({"GET", "/api/sessions/s-2/events"}, Role::kClient)["error"], "unknown_session");
  EXPECT_EQ(Ask({"GET", "/api/sessions"}, Role::kClient)["sessions"].size(), 0u);
}

}  // namespace
}  // namespace callslip
