// AnnotationService over the tracker's real listener with gRPC's own client.
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "callslip/tracker/v1/annotation_service.grpc.pb.h"
#include "tracker/rpc/tracker_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string DrawingOf(int number) { return absl::StrCat(R"({"annotations":[],"n":)", number, "}"); }

class AnnotationServiceTest : public TrackerServerTest {
 protected:
  using Stub = v1::AnnotationService::Stub;

  AnnotationServiceTest()
      : annotations_(v1::AnnotationService::NewStub(
            grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()))) {}

  template <typename Request, typename Response>
  absl::StatusOr<Response> CallAnnotations(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                        const Request&, Response*),
                                           const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = ((*annotations_).*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status, context);
    return response;
  }

  absl::StatusOr<v1::RequestAnnotationsResponse> Ask(const std::string& session = "",
                                                     const std::string& request_id = "") {
    v1::RequestAnnotationsRequest request;
    request.set_client_id("agent");
    request.set_session(session);
    request.set_request_id(request_id);
    if (session.empty()) request.set_tab_id(7);
    return CallAnnotations(&Stub::RequestAnnotations, request);
  }

  absl::StatusOr<v1::AppendAnnotationsResponse> Draw(const std::string& content,
                                                     const std::string& session = "",
                                                     const std::string& command_id = "",
                                                     const std::string& drawing_id = "") {
    v1::AppendAnnotationsRequest request;
    request.mutable_drawing()->set_tab_id(7);
    request.mutable_drawing()->set_url("http://page/");
    request.mutable_drawing()->set_title("A page");
    request.mutable_drawing()->set_session(session);
    request.mutable_drawing()->set_content(content);
    if (!command_id.empty()) request.add_command_ids(command_id);
    request.set_drawing_id(drawing_id);
    return CallAnnotations(&Stub::AppendAnnotations, request);
  }

  v1::Command Read(const std::string& id) {
    v1::GetCommandRequest request;
    request.set_client_id("agent");
    request.set_command_id(id);
    return Call(&v1::CommandService::Stub::GetCommand, request)->command();
  }

  std::unique_ptr<Stub> annotations_;
};

TEST_F(AnnotationServiceTest, DrawingWakesTheWaitForItsCommand) {
  ASSERT_OK_AND_ASSIGN(const auto asked, Ask());
  const v1::Command& command = asked.command();
  EXPECT_FALSE(asked.existed());
  EXPECT_EQ(command.command_class(), v1::COMMAND_CLASS_HUMAN);
  EXPECT_EQ(command.state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_EQ(command.type(), "annotations");
  EXPECT_EQ(command.deadlines().schedule_to_close().seconds(), 600);
  EXPECT_EQ(command.deadlines().result_retention().seconds(), 540);
  EXPECT_EQ(Read(command.command_id()).params(), R"({"tab_id":7})");

  v1::WaitForCommandRequest wait;
  wait.set_client_id("agent");
  wait.set_command_id(command.command_id());
  grpc::ClientContext context;
  const auto stream = stub_->WaitForCommand(&context, wait);
  v1::WaitForCommandResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_OK_AND_ASSIGN(const auto appended, Draw(R"({"annotations":[]})"));
  EXPECT_THAT(appended.completed_command_ids(), ElementsAre(command.command_id()));
  EXPECT_TRUE(appended.stored());
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.command().state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_EQ(response.command().result(), R"({"annotations":[]})");
  EXPECT_FALSE(stream->Read(&response));
}

TEST_F(AnnotationServiceTest, ExistingDrawingAnswersARequestAtOnce) {
  ASSERT_OK(Draw(DrawingOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto asked, Ask());
  EXPECT_EQ(asked.command().state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_EQ(asked.command().result(), DrawingOf(1));
  EXPECT_EQ(Ask()->command().state(), v1::COMMAND_STATE_QUEUED);
}

TEST_F(AnnotationServiceTest, RepeatedDrawingIsStoredOnceAndGetsTheSameAnswer) {
  const std::string id = Ask()->command().command_id();
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto appended, Draw(DrawingOf(1), "review", "", "d1"));
    EXPECT_THAT(appended.completed_command_ids(), ElementsAre(id));
    EXPECT_TRUE(appended.stored());
  }
  EXPECT_THAT(CallAnnotations(&Stub::ListAnnotations, {})->drawings(), SizeIs(1));
}

TEST_F(AnnotationServiceTest, AllDrawingsOfASessionAreReadAndListed) {
  ASSERT_OK(Draw(DrawingOf(1), "my \"review\""));
  ASSERT_OK(Draw(DrawingOf(2), "my \"review\""));
  ASSERT_OK_AND_ASSIGN(const auto asked, Ask("my \"review\""));
  EXPECT_EQ(asked.command().result(), absl::StrCat("[", DrawingOf(1), ",", DrawingOf(2), "]"));
  EXPECT_EQ(Read(asked.command().command_id()).params(), R"({"session":"my \"review\""})");

  v1::ListAnnotationsRequest request;
  request.set_session("my \"review\"");
  request.set_page_size(1);
  ASSERT_OK_AND_ASSIGN(auto page, CallAnnotations(&Stub::ListAnnotations, request));
  ASSERT_THAT(page.drawings(), SizeIs(1));
  const v1::Drawing& drawing = page.drawings(0);
  EXPECT_EQ(drawing.sequence(), 2);
  EXPECT_EQ(drawing.target(), "browser");
  EXPECT_EQ(drawing.tab_id(), 7);
  EXPECT_EQ(drawing.url(), "http://page/");
  EXPECT_EQ(drawing.title(), "A page");
  EXPECT_EQ(drawing.session(), "my \"review\"");
  EXPECT_EQ(drawing.content(), DrawingOf(2));
  EXPECT_EQ(drawing.append_time().seconds(), absl::ToUnixSeconds(clock_.Now()));
  request.set_page_token(page.next_page_token());
  ASSERT_OK_AND_ASSIGN(page, CallAnnotations(&Stub::ListAnnotations, request));
  EXPECT_EQ(page.drawings(0).content(), DrawingOf(1));
  EXPECT_TRUE(page.next_page_token().empty());
}

TEST_F(AnnotationServiceTest, RequestIdReusedForOtherAnnotationsIsRefused) {
  ASSERT_OK_AND_ASSIGN(const auto first, Ask("", "r1"));
  ASSERT_OK_AND_ASSIGN(const auto again, Ask("", "r1"));
  EXPECT_TRUE(again.existed());
  EXPECT_EQ(again.command().command_id(), first.command().command_id());
  EXPECT_THAT(Ask("review", "r1"), FailsWith(StatusCode::kAlreadyExists, "request_id_reused"));
}

TEST_F(AnnotationServiceTest, DrawingIsNormalizedWhenItIsStored) {
  const auto kept = [this](const std::string& content) {
    EXPECT_OK(Draw(content)) << content;
    v1::ListAnnotationsRequest request;
    request.set_client_id("agent");
    const auto page = CallAnnotations(&Stub::ListAnnotations, request);
    return page.ok() && page->drawings_size() > 0 ? page->drawings(0).content() : "";
  };
  EXPECT_EQ(kept(R"({ "z": 1, "annotations": [ {"note": "n"} ], "z": 2 })"),
            R"({"z":2,"annotations":[{"note":"n"}]})");
  EXPECT_EQ(kept(R"({"annotations":[{"note":"half \ud83d"}]})"),
            "{\"annotations\":[{\"note\":\"half \xef\xbf\xbd\"}]}");
  EXPECT_EQ(kept("{\"annotations\":[{\"note\":\"a\xe2\x80\xa8z\"}]}"),
            R"({"annotations":[{"note":"a\u2028z"}]})");
  const std::string deepest =
      absl::StrCat(R"({"annotations":[],"a":)", std::string(63, '['), std::string(63, ']'), "}");
  EXPECT_EQ(kept(deepest), deepest);
}

TEST_F(AnnotationServiceTest, ErrorsCarryTheirReasons) {
  for (const char* content :
       {"x", "\"text\"", "5", "null", "[1]", "[]", "{}", R"({"annotations":5})",
        R"({"annotations":{}})", R"({"annotations":null})", R"({"annotations":[1]})",
        R"({"annotations":[{},"x"]})", R"({"annotations":[]} {})",
        "{\"annotations\":[{\"note\":\"\xff\"}]}",
        R"({"annotations":[],"a":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[)"
        R"(]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]})"}) {
    EXPECT_THAT(Draw(content), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"))
        << content;
  }
  EXPECT_THAT(Draw(""), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(Draw(DrawingOf(1), "", "", std::string(129, 'd')),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(Draw(std::string(8 << 20, '1')),
              FailsWith(StatusCode::kInvalidArgument, "drawing_too_large"));
  for (int i = 0; i < 100; ++i) ASSERT_OK(Ask());
  const absl::Status refused = Ask().status();
  EXPECT_THAT(refused, FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  EXPECT_FALSE(DetailsOf(refused).hint.empty());
}

TEST_F(AnnotationServiceTest, UnansweredRequestExpiresAfterTenMinutes) {
  const std::string id = Ask()->command().command_id();
  clock_.Advance(absl::Minutes(10) - absl::Milliseconds(1));
  EXPECT_EQ(Read(id).state(), v1::COMMAND_STATE_QUEUED);
  clock_.Advance(absl::Milliseconds(1));
  v1::Command command = Read(id);
  // The thread that fires deadlines has its own pace.
  while (command.state() == v1::COMMAND_STATE_QUEUED) command = Read(id);
  EXPECT_EQ(command.state(), v1::COMMAND_STATE_EXPIRED);
  EXPECT_EQ(command.error().code(), "user_did_not_finish");
  EXPECT_EQ(Draw(DrawingOf(1), "", id)->completed_command_ids_size(), 0);
}

TEST_F(AnnotationServiceTest, DrawingsAreAcceptedDuringDrain) {
  const std::string id = Ask()->command().command_id();
  // A lease holds the drain up until its report.
  Register();
  const auto lease = Lease();
  ASSERT_OK(lease);
  std::thread drain([&] { Drain(); });
  while (Lease().ok()) {
  }
  EXPECT_THAT(Ask(), FailsWith(StatusCode::kUnavailable, "draining"));
  EXPECT_THAT(Draw(DrawingOf(1), "", id)->completed_command_ids(), ElementsAre(id));
  ASSERT_OK(Complete(lease->leases(0)));
  drain.join();
}

}  // namespace
}  // namespace callslip::tracker
