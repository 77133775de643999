// Audit lines in the tracker's log, and the traces that commands continue.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/rpc/access_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AuditTest : public GuardedAccessTest {
 protected:
  AuditTest() { InitLogging("test", "info"); }
  ~AuditTest() override { InitLogging("test", "error"); }

  // The audit's lines that `act` leads to.
  template <typename Act>
  static std::vector<std::string> LinesOf(const Act& act) {
    testing::internal::CaptureStderr();
    act();
    std::vector<std::string> lines;
    for (const absl::string_view line :
         absl::StrSplit(testing::internal::GetCapturedStderr(), '\n')) {
      if (absl::StrContains(line, R"("event":"audit")")) lines.emplace_back(line);
    }
    return lines;
  }

  absl::Status Cancel(const std::string& as, const std::string& id,
                      const std::string& client = "") {
    v1::CancelCommandRequest request;
    request.set_command_id(id);
    request.set_client_id(client);
    return Call(&v1::CommandService::Stub::CancelCommand, as, request).status();
  }
};

TEST_F(AuditTest, ChangeByAnAdminIsLogged) {
  const std::string id = Register("client");
  const auto lines = LinesOf([&] { EXPECT_OK(Cancel("admin", id)); });
  ASSERT_EQ(lines.size(), 1u);
  for (const std::string& part :
       {std::string(R"("level":"info")"), std::string(R"("verdict":"allowed")"),
        std::string(R"("method":"callslip.tracker.v1.CommandService.CancelCommand")"),
        std::string(R"("role":"admin")"), std::string(R"("principal":"admin")"),
        absl::StrCat(R"("object":")", id, "\""), std::string(R"("owner":"client")"),
        std::string(R"("peer":"ipv4:127.0.0.1:)")}) {
    EXPECT_THAT(lines[0], HasSubstr(part));
  }
}

TEST_F(AuditTest, ClientThatAnAdminActsForIsLogged) {
  const std::string id = Register("client");
  EXPECT_THAT(LinesOf([&] { EXPECT_OK(Cancel("admin", id, "other")); }),
              ElementsAre(HasSubstr(R"("on_behalf_of":"other")")));
}

TEST_F(AuditTest, ReadsByAdminsAndCallsByOthersAreNotLogged) {
  EXPECT_THAT(LinesOf([&] {
                const std::string id = Register("client");
                EXPECT_OK(Get("admin", id));
                EXPECT_OK(Cancel("client", id));
              }),
              IsEmpty());
}

TEST_F(AuditTest, RefusalIsLoggedWithItsCallerAndReason) {
  const std::string id = Register("client");
  const auto lines = LinesOf([&] { EXPECT_FALSE(Cancel("viewer", id).ok()); });
  ASSERT_EQ(lines.size(), 1u);
  for (const char* part : {R"("level":"warning")", R"("verdict":"refused")",
                           R"("reason":"role_not_allowed")", R"("principal":"viewer")"}) {
    EXPECT_THAT(lines[0], HasSubstr(part));
  }
}

// Traces.

class CallTraceTest : public GuardedAccessTest {
 protected:
  static constexpr char kOfCall[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  static constexpr char kOfRequest[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  // The trace of a command that was registered by a call and a request with these.
  std::string TraceOf(const std::string& of_call, const std::string& of_request) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + TokenOf("client"));
    if (!of_call.empty()) context.AddMetadata("traceparent", of_call);
    v1::RegisterCommandRequest request;
    request.set_type("execute_js");
    request.set_traceparent(of_request);
    v1::RegisterCommandResponse response;
    const grpc::Status status =
        v1::CommandService::NewStub(tcp_)->RegisterCommand(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.command().traceparent();
  }

  // The state and the baggage of a trace that the worker of a command gets.
  std::pair<std::string, std::string> DeliveredOf(grpc::ClientContext& context,
                                                  const v1::RegisterCommandRequest& request) {
    const auto stub = v1::CommandService::NewStub(tcp_);
    v1::RegisterCommandResponse registered;
    EXPECT_TRUE(stub->RegisterCommand(&context, request, &registered).ok());
    grpc::ClientContext of_worker;
    of_worker.AddMetadata("authorization", "Bearer " + TokenOf("worker"));
    v1::LeaseCommandsResponse leased;
    EXPECT_TRUE(stub->LeaseCommands(&of_worker, v1::LeaseCommandsRequest(), &leased).ok());
    if (leased.leases_size() != 1) return {"none", "none"};
    const v1::Command& command = leased.leases(0).command();
    return {command.tracestate(), command.baggage()};
  }
};

TEST_F(CallTraceTest, CommandContinuesTheTraceOfItsCall) {
  EXPECT_EQ(TraceOf(kOfCall, ""), kOfCall);
  EXPECT_EQ(TraceOf(kOfCall, kOfRequest), kOfRequest) << "what the request names comes first";
  EXPECT_EQ(TraceOf("", kOfRequest), kOfRequest);
  EXPECT_EQ(TraceOf("00-no-trace-01", ""), "");
}

TEST_F(CallTraceTest, TraceStateAndBaggageReachTheWorker) {
  using Companions = std::pair<std::string, std::string>;
  const auto deliver = [this](const std::string& of_call, const Companions& call,
                              const std::string& of_request, const Companions& named) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + TokenOf("client"));
    if (!of_call.empty()) context.AddMetadata("traceparent", of_call);
    if (!call.first.empty()) context.AddMetadata("tracestate", call.first);
    if (!call.second.empty()) context.AddMetadata("baggage", call.second);
    v1::RegisterCommandRequest request;
    request.set_type("execute_js");
    request.set_traceparent(of_request);
    request.set_tracestate(named.first);
    request.set_baggage(named.second);
    return DeliveredOf(context, request);
  };
  EXPECT_EQ(deliver(kOfCall, {"c=1", "c=2"}, "", {}), Companions("c=1", "c=2"));
  EXPECT_EQ(deliver("", {}, kOfRequest, {"r=1", "r=2"}), Companions("r=1", "r=2"));
  EXPECT_EQ(deliver(kOfCall, {"c=1", "c=2"}, kOfRequest, {}), Companions("", "c=2"))
      << "a state is its trace's";
  EXPECT_EQ(deliver("00-no-trace-01", {"c=1", "c=2"}, "", {}), Companions("", "c=2"));
  EXPECT_EQ(deliver(kOfCall, {"C=1", "c"}, "", {}), Companions("", ""));
}

}  // namespace
}  // namespace callslip::tracker
