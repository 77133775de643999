// The data of an event on the way from a service to pages: no program parses and rewrites them.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/test_services.h"
#include "support/web_socket_client.h"

namespace callslip {
namespace {

namespace v1 = tracker::v1;
using ::testing::HasSubstr;

// Valid JSON in a form that no serializer writes.
constexpr char kData[] =
    R"({"tool_call_id":"c", "n":1.50,"twice":{"b":1,"b":2},"e":"\u0041\/","z":[1e2,{}]})";

class EventTextTest : public testing::Test {
 protected:
  EventTextTest()
      : sessions_(v1::SessionService::NewStub(
            grpc::CreateChannel(absl::StrCat("unix:", services_.tracker_address().unix_path),
                                grpc::InsecureChannelCredentials()))) {
    grpc::ClientContext context;
    v1::CreateSessionRequest create;
    create.set_session_id("s");
    v1::Session created;
    EXPECT_TRUE(sessions_->CreateSession(&context, create, &created).ok());
  }

  void Append() {
    grpc::ClientContext context;
    v1::AppendEventsRequest append;
    append.set_session_id("s");
    append.add_events()->set_type("tool_call");
    append.mutable_events(0)->set_data(kData);
    v1::AppendEventsResponse appended;
    ASSERT_TRUE(sessions_->AppendEvents(&context, append, &appended).ok());
  }

  TestServices services_;
  const std::unique_ptr<v1::SessionService::Stub> sessions_;
};

TEST_F(EventTextTest, ReachesPagesUnchanged) {
  gateway::WebSocketClient socket(services_.gateway_address().port);
  socket.Send(gateway::WebSocketClient::UpgradeRequest("/api/sessions/s/ws", "",
                                                       services_.gateway_address().ToString()));
  socket.ReadTo("\r\n\r\n");
  EXPECT_THAT(socket.ReadText(), HasSubstr("\"connected\""));
  Append();
  EXPECT_THAT(socket.ReadText(), HasSubstr(kData));  // Live…
  socket.SendText(R"({"type":"load_events","data":{"before_seq":100}})");
  EXPECT_THAT(socket.ReadText(), HasSubstr(kData));  // …and from the log.
  httplib::Client client(services_.gateway_address().host, services_.gateway_address().port);
  const auto page = client.Get("/api/sessions/s/events");
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, HasSubstr(kData));
}

}  // namespace
}  // namespace callslip
