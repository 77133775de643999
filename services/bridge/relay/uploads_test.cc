// The paths in an `upload`: what the agent and the gateway get.
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/relay_test_fixture.h"
#include "support/temporary_folder.h"

namespace callslip::bridge {
namespace {

using nlohmann::json;

class UploadsTest : public RelayTest {
 protected:
  UploadsTest() {
    std::ofstream(folder_.path() + "/a.txt") << "abc";
    std::ofstream(folder_.path() + "/large") << std::string(kFilePieceBytes + 2, 'x');
  }

  // A gateway that accepts pieces of files, or answers them with `refusal`. It answers any other
  // call with the method.
  void StartTaking(const json& refusal = nullptr) {
    StartGateway(
        [refusal](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
          const json message = json::parse(request.body, nullptr, false);
          if (!message.contains("id")) return void(response.status = 202);
          const json params = message.value("params", json::object());
          json result = {{"method", message["method"]}};
          if (params.value("name", "") == "files") {
            const std::string name = params["arguments"].value("name", "");
            const std::string id = params["arguments"].value("file_id", "file-" + name);
            result = {{"structuredContent",
                       refusal.is_null() ? json{{"result", {{"file_id", id}}}} : refusal}};
          }
          const json answer = {{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", result}};
          response.set_content(answer.dump(), "application/json");
        });
  }
  void Initialize(const json& capabilities) {
    Call("0", "initialize",
         json{{"protocolVersion", "2025-11-25"}, {"capabilities", capabilities}}.dump());
    ReadLine();
  }
  void Upload(const json& files, const std::string& meta = "") {
    Call("1", "tools/call",
         R"({"name":"interact","arguments":{"action":"upload","selector":"e1","files":)" +
             files.dump() + "}" + meta + "}");
  }
  // Answers the bridge's question.
  void AnswerRoots(const json& result) {
    const json question = Read();
    EXPECT_EQ(question["method"], "roots/list");
    Send(json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", result}}.dump());
  }
  json Roots() const {
    return {{"roots", {{{"uri", "file://" + folder_.path()}, {"name", "work"}}}}};
  }
  json LastArguments() {
    return json::parse(gateway_->requests().back().body)["params"]["arguments"];
  }

  TemporaryFolder folder_;
};

TEST_F(UploadsTest, PathsAreReplacedByIdsOfUploadedFiles) {
  StartTaking();
  Initialize({{"roots", json::object()}});
  Upload({"a.txt", "large"});
  AnswerRoots(Roots());
  EXPECT_EQ(Read()["result"]["method"], "tools/call");
  EXPECT_EQ(LastArguments()["files"], (json{"file-a.txt", "file-large"}));
  EXPECT_EQ(LastArguments()["selector"], "e1");
  const auto requests = gateway_->requests();
  ASSERT_EQ(requests.size(), 5u) << "initialize, three pieces, the call";
  const json first = json::parse(requests[1].body)["params"]["arguments"];
  EXPECT_EQ(first["name"], "a.txt");
  EXPECT_EQ(first["mime_type"], "text/plain");
  EXPECT_EQ(first["size"], 3);
  EXPECT_EQ(first["base64"], absl::Base64Escape("abc"));
  const json last = json::parse(requests[3].body)["params"]["arguments"];
  EXPECT_EQ(last["offset"], kFilePieceBytes);
  EXPECT_EQ(last["base64"], absl::Base64Escape("xx"));
}

TEST_F(UploadsTest, FilesOutsideRootsAreUnavailable) {
  StartTaking();
  Initialize({{"roots", json::object()}});
  Upload({"/etc/passwd"});
  AnswerRoots(Roots());
  const json failure = Read()["result"];
  EXPECT_EQ(failure["isError"], true);
  EXPECT_EQ(failure["structuredContent"]["reason"], "file_unavailable");
  EXPECT_EQ(failure["structuredContent"]["may_have_executed"], false);
  EXPECT_EQ(gateway_->requests().size(), 1u) << "nothing was sent";
}

TEST_F(UploadsTest, ClientWithoutRootsUsesFolderOfBridge) {
  StartTaking();
  Initialize(json::object());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  Upload({"a.txt"});
  EXPECT_EQ(Read()["result"]["method"], "tools/call");
  EXPECT_EQ(LastArguments()["files"], (json{"file-a.txt"}));
  std::filesystem::current_path("/");
  Upload({"etc/passwd"});
  EXPECT_EQ(Read()["result"]["structuredContent"]["reason"], "file_unavailable");
  std::filesystem::current_path(before);
}

TEST_F(UploadsTest, ClientWithInvalidRootsAnswerHasNoRoots) {
  StartTaking();
  Initialize({{"roots", json::object()}});
  Upload({"a.txt"});
  AnswerRoots("what?");
  EXPECT_EQ(Read()["result"]["structuredContent"]["reason"], "file_unavailable");
}

TEST_F(UploadsTest, StatelessRevisionsAreNotAskedForRoots) {
  StartTaking();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  Upload({"a.txt"}, R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})");
  EXPECT_EQ(Read()["result"]["method"], "tools/call");
  std::filesystem::current_path(before);
  const auto piece = gateway_->requests().front();
  EXPECT_EQ(piece.get_header_value("Mcp-Name"), "files");
  EXPECT_TRUE(json::parse(piece.body)["params"]["_meta"].contains(
      "io.modelcontextprotocol/clientCapabilities"));
}

TEST_F(UploadsTest, GatewayErrorAboutFileIsPassedOn) {
  StartTaking({{"error", "too_many_files"}, {"message", "Full."}, {"hint", "Later."}});
  Initialize({{"roots", json::object()}});
  Upload({"a.txt"});
  AnswerRoots(Roots());
  const json said = Read()["result"]["structuredContent"];
  EXPECT_EQ(said["reason"], "too_many_files");
  EXPECT_EQ(said["error"], "Full.");
  EXPECT_EQ(said["may_have_executed"], false);
}

TEST_F(UploadsTest, InvalidPathListIsLeftToGateway) {
  StartTaking();
  Initialize(json::object());
  Upload("a.txt");
  EXPECT_EQ(Read()["result"]["method"], "tools/call");
  EXPECT_EQ(LastArguments()["files"], "a.txt");
}

}  // namespace
}  // namespace callslip::bridge
