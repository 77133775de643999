#include "gateway/mcp/protocol/json_rpc.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

std::string HundredTimes(const std::string& text) {
  std::string times;
  for (int i = 0; i < 100; ++i) times += text;
  return times;
}

struct RefusedCase {
  const char* name;
  std::string body;
  int code;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, ErrorHasNoId) {
  const auto parsed = ParseJsonRpc(GetParam().body);
  const auto* error = std::get_if<RpcError>(&parsed);
  ASSERT_NE(error, nullptr);
  const Json body = Json::parse(JsonRpcErrorWithoutId(*error));
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
        {"EmptyBatch", "[]", -32600},
        {"HugeBatch", "[1" + HundredTimes(",1") + "]", -32600},
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

JsonRpcMessage Single(const std::string& text) {
  auto parsed = ParseJsonRpc(text);
  auto& body = std::get<JsonRpcBody>(parsed);
  EXPECT_FALSE(body.is_batch);
  return std::get<JsonRpcMessage>(body.messages.at(0));
}

TEST(JsonRpcTest, IdsAreReturnedUnchanged) {
  for (const char* id :
       {"0", "-1", "9007199254740993", "18446744073709551615", "\"\"", "\"0\"", "\"\\u00e9\""}) {
    const JsonRpcMessage message =
        Single(std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}");
    EXPECT_EQ(message.kind, JsonRpcMessage::Kind::kRequest);
    EXPECT_EQ(Json::parse(JsonRpcResponse(message.id, Json::object()))["id"], Json::parse(id));
  }
}

TEST(JsonRpcTest, DistinguishesThreeKindsOfMessage) {
  EXPECT_EQ(Single(R"({"jsonrpc":"2.0","id":1,"method":"x"})").kind,
            JsonRpcMessage::Kind::kRequest);
  EXPECT_EQ(Single(R"({"jsonrpc":"2.0","method":"x"})").kind, JsonRpcMessage::Kind::kNotification);
  const JsonRpcMessage response = Single(R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})");
  EXPECT_EQ(response.kind, JsonRpcMessage::Kind::kResponse);
  EXPECT_EQ(std::get<Json>(response.outcome), (Json{{"a", 1}}));
  const JsonRpcMessage refusal = Single(R"({"jsonrpc":"2.0","id":1,"error":{"message":"no"}})");
  EXPECT_EQ(std::get<RpcError>(refusal.outcome).message, "no");
}

TEST(JsonRpcTest, BatchKeepsInvalidMessagesInOrder) {
  auto parsed = ParseJsonRpc(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},1])");
  const auto& body = std::get<JsonRpcBody>(parsed);
  EXPECT_TRUE(body.is_batch);
  ASSERT_EQ(body.messages.size(), 2u);
  EXPECT_EQ(std::get<JsonRpcMessage>(body.messages[0]).method, "ping");
  EXPECT_EQ(std::get<RpcError>(body.messages[1]).code, JsonRpcCode::kInvalidRequest);
}

TEST(JsonRpcTest, ResponsesHaveResultOrError) {
  EXPECT_EQ(JsonRpcResponse("a", RpcError{JsonRpcCode::kMethodNotFound, "no"}),
            R"({"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no"}})");
  EXPECT_EQ(JsonRpcResponse(1, Json{{"x", 1}}), R"({"jsonrpc":"2.0","id":1,"result":{"x":1}})");
}

TEST(JsonRpcTest, IdsAndProgressTokensAreBounded) {
  const std::string longest(kMaxRpcIdBytes, 'i');
  const auto is_refused = [](const Json& message) {
    const auto parsed = ParseJsonRpc(message.dump());
    return std::holds_alternative<RpcError>(parsed);
  };
  const Json message = {{"jsonrpc", "2.0"}, {"method", "ping"}};
  for (const bool fits : {true, false}) {
    const std::string text = fits ? longest : longest + "i";
    Json with_id = message;
    with_id["id"] = text;
    EXPECT_EQ(is_refused(with_id), !fits);
    Json with_token = message;
    with_token["id"] = 1;
    with_token["params"]["_meta"]["progressToken"] = text;
    EXPECT_EQ(is_refused(with_token), !fits);
  }
}

}  // namespace
}  // namespace callslip::gateway
