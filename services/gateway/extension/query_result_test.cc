#include "gateway/extension/query_result.h"

#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::CompleteCommandRequest Completion(const std::string& body) {
  const auto parsed = ParseQueryResult(body);
  EXPECT_OK(parsed);
  return std::get<v1::CompleteCommandRequest>(*parsed);
}

TEST(QueryResultTest, PendingAcknowledgesCommand) {
  const auto parsed = ParseQueryResult(
      R"({"id":"l1","correlation_id":"c1","status":"pending","tab_id":7,"url":"http://x/"})");
  ASSERT_OK(parsed);
  const auto& request = std::get<v1::AcknowledgeCommandRequest>(*parsed);
  EXPECT_EQ(request.command_id(), "c1");
  EXPECT_EQ(request.lease_token(), "l1");
  EXPECT_EQ(request.context(), R"({"tab_id":7,"url":"http://x/"})");
}

TEST(QueryResultTest, CompleteCarriesWorkTime) {
  const auto work_of = [](const std::string& work) -> absl::StatusOr<std::vector<double>> {
    const auto parsed =
        ParseQueryResult(R"({"correlation_id":"c1","status":"complete","work":)" + work + "}");
    if (!parsed.ok()) return parsed.status();
    const auto& request = std::get<v1::CompleteCommandRequest>(*parsed);
    const auto seconds = [](const google::protobuf::Duration& time) {
      return static_cast<double>(time.seconds()) + time.nanos() / 1e9;
    };
    if (!request.has_work_time()) return std::vector<double>();
    return std::vector<double>{seconds(request.work_time()), seconds(request.work_age())};
  };
  EXPECT_THAT(*work_of(R"({"duration_ms":1234.5,"ended_ms_ago":0})"), ElementsAre(1.2345, 0));
  EXPECT_THAT(*work_of(R"({"duration_ms":1e300,"ended_ms_ago":7})"), ElementsAre(86400, 0.007));
  EXPECT_THAT(*work_of("null"), IsEmpty());
  for (const char* wrong :
       {"[]", "{}", "7", R"({"duration_ms":1})", R"({"duration_ms":-1,"ended_ms_ago":0})",
        R"({"duration_ms":"1","ended_ms_ago":0})"}) {
    EXPECT_THAT(work_of(wrong), FailsWith(StatusCode::kInvalidArgument, "invalid_field")) << wrong;
  }
}

TEST(QueryResultTest, PendingCarriesProgress) {
  const auto progress_of = [](const std::string& progress) {
    const auto parsed = ParseQueryResult(
        R"({"correlation_id":"c1","status":"pending","progress":)" + progress + "}");
    EXPECT_OK(parsed) << progress;
    return std::get<v1::AcknowledgeCommandRequest>(*parsed).progress();
  };
  EXPECT_EQ(progress_of(R"({"message":"Page 2 of 4","fraction":0.5})").message(), "Page 2 of 4");
  EXPECT_EQ(progress_of(R"({"message":"Page 2 of 4","fraction":0.5})").fraction(), 0.5);
  EXPECT_EQ(progress_of(R"({"fraction":1})").fraction(), 1);
  EXPECT_EQ(progress_of(R"({"message":"Loading","fraction":null})").fraction(), 0);
  const auto without = ParseQueryResult(R"({"correlation_id":"c1","status":"pending"})");
  ASSERT_OK(without);
  EXPECT_FALSE(std::get<v1::AcknowledgeCommandRequest>(*without).has_progress());
  for (const char* wrong :
       {"7", "\"x\"", R"({"message":7})", R"({"fraction":"x"})", R"({"fraction":1.5})"}) {
    EXPECT_THAT(ParseQueryResult(R"({"correlation_id":"c1","status":"pending","progress":)" +
                                 std::string(wrong) + "}"),
                FailsWith(StatusCode::kInvalidArgument, "invalid_field"))
        << wrong;
  }
}

TEST(QueryResultTest, CompleteCarriesResult) {
  const auto request =
      Completion(R"({"correlation_id":"c1","status":"complete","result":{"success":true}})");
  EXPECT_EQ(request.result(), R"({"success":true})");
  EXPECT_EQ(request.lease_token(), "");
  EXPECT_EQ(request.context(), "");
  EXPECT_EQ(Completion(R"({"correlation_id":"c1","status":"complete"})").result(), "null");
}

TEST(QueryResultTest, ErrorIsTextOrObject) {
  const auto text =
      Completion(R"({"correlation_id":"c1","status":"timeout","error":"Execution timeout"})");
  EXPECT_EQ(text.timeout().message(), "Execution timeout");
  EXPECT_TRUE(text.timeout().may_have_executed());

  const auto object = Completion(
      R"({"correlation_id":"c1","status":"error","error":{"code":"tab_gone","message":"m",)"
      R"("hint":"h","may_have_executed":false}})");
  EXPECT_EQ(object.error().code(), "tab_gone");
  EXPECT_EQ(object.error().message(), "m");
  EXPECT_EQ(object.error().hint(), "h");
  EXPECT_FALSE(object.error().may_have_executed());

  EXPECT_EQ(Completion(R"({"correlation_id":"c1","status":"error"})").error().code(),
            "execution_failed");
}

TEST(QueryResultTest, ErrorForMissingCorrelationIdNamesFieldAndVersion) {
  for (const char* body :
       {R"({"id":"x","status":"complete"})", R"({"correlation_id":"","status":"complete"})"}) {
    const auto parsed = ParseQueryResult(body);
    EXPECT_THAT(parsed, FailsWith(StatusCode::kInvalidArgument, "missing_correlation_id"));
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("correlation_id"));
    EXPECT_THAT(DetailsOf(parsed.status()).hint, HasSubstr("6.0.0"));
  }
}

TEST(QueryResultTest, RefusesInvalidResults) {
  EXPECT_THAT(ParseQueryResult("{"), FailsWith(StatusCode::kInvalidArgument, "malformed_json"));
  EXPECT_THAT(ParseQueryResult("[]"), FailsWith(StatusCode::kInvalidArgument, "invalid_body"));
  EXPECT_THAT(ParseQueryResult(R"({"correlation_id":7,"status":"complete"})"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_field"));
  EXPECT_THAT(ParseQueryResult(R"({"correlation_id":"c1","status":"done"})"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_status"));
  EXPECT_THAT(ParseQueryResult(R"({"correlation_id":"c1","status":"error","error":7})"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_field"));
}

}  // namespace
}  // namespace callslip::gateway
