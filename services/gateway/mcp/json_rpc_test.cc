#include "gateway/mcp/json_rpc.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

struct RefusedCase {
  const char* name;
  std::string body;
  int code;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, AnswersBadRequestWithoutAnId) {
  const auto parsed = ParseJsonRpc(GetParam().body);
  const auto* response = std::get_if<HttpResponse>(&parsed);
  ASSERT_NE(response, nullptr);
  EXPECT_EQ(response->status, 400);
  const Json body = Json::parse(response->body);
  EXPECT_EQ(body["jsonrpc"], "2.0");
  EXPECT_EQ(body["error"]["code"], GetParam().code);
  EXPECT_FALSE(body.contains("id"));
}

INSTANTIATE_TEST_SUITE_P(
    JsonRpcTest, RefusedTest,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"Empty", "", -32700},
        {"NoJson", "{", -32700},
        {"InvalidUtf8", "{\"jsonrpc\":\"\xff\"}", -32700},
        {"TooDeep", std::string(1000, '['), -32700},
        {"DuplicateKey", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", -32600},
        {"Batch", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600},
        {"EmptyBatch", "[]", -32600},
        {"Scalar", "1", -32600},
        {"NoVersion", R"({"id":1,"method":"ping"})", -32600},
        {"OtherVersion", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
        {"NumberAsVersion", R"({"jsonrpc":2.0,"id":1,"method":"ping"})", -32600},
        {"NullId", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
        {"FractionId", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
        {"BooleanId", R"({"jsonrpc":"2.0","id":true,"method":"ping"})", -32600},
        {"ObjectId", R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600},
        {"HugeId", R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"})", -32600},
        {"NoMethod", R"({"jsonrpc":"2.0","id":1})", -32600},
        {"NumberAsMethod", R"({"jsonrpc":"2.0","id":1,"method":1})", -32600},
        {"ArrayAsParams", R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32600},
    }),
    [](const auto& test) { return test.param.name; });

TEST(JsonRpcTest, IdsComeBackAsTheyWere) {
  for (const char* id :
       {"0", "-1", "9007199254740993", "18446744073709551615", "\"\"", "\"0\"", "\"\\u00e9\""}) {
    const auto parsed =
        ParseJsonRpc(std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}");
    const auto* message = std::get_if<JsonRpcMessage>(&parsed);
    ASSERT_NE(message, nullptr) << id;
    EXPECT_EQ(message->kind, JsonRpcMessage::Kind::kRequest);
    EXPECT_EQ(Json::parse(JsonRpcResult(message->id, Json::object()).body)["id"], Json::parse(id));
  }
}

TEST(JsonRpcTest, TellsTheThreeKindsApart) {
  const auto kind = [](const char* body) {
    return std::get<JsonRpcMessage>(ParseJsonRpc(body)).kind;
  };
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"method":"x"})"), JsonRpcMessage::Kind::kRequest);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","method":"x"})"), JsonRpcMessage::Kind::kNotification);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"result":{}})"), JsonRpcMessage::Kind::kResponse);
}

TEST(JsonRpcTest, ErrorsForAKnownIdAreHttp200) {
  const HttpResponse response = JsonRpcError("a", JsonRpcCode::kMethodNotFound, "no");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"error":{"code":-32601,"message":"no"},"id":"a","jsonrpc":"2.0"})");
}

}  // namespace
}  // namespace callslip::gateway
