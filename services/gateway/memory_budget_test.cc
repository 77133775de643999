#include "gateway/memory_budget.h"

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gateway/http/http_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

TEST(GatewayMemoryBudgetTest, SharesFitIntoBudget) {
  for (const int64_t bytes : {384 * kMebibyte, MemoryBudget::kDefault, 4096 * kMebibyte}) {
    ASSERT_OK_AND_ASSIGN(const MemoryBudget budget, MemoryBudget::Of(bytes));
    int64_t sum = 0;
    for (const auto& share : budget.Shares()) sum += share.bytes;
    EXPECT_LE(sum, bytes);
  }
  EXPECT_EQ(MemoryBudget::Of(MemoryBudget::kDefault)->http.all_bodies_bytes,
            HttpLimits().all_bodies_bytes);
}

// Each limit in bytes belongs to a total that all connections share, or is small enough to apply to
// each connection. The limits are those of http_limits.h and memory_budget.h.
TEST(GatewayMemoryBudgetTest, EveryLimitBelongsToShare) {
  constexpr char kEach[] = "each connection";
  const std::map<std::string, std::string> counted = {
      // Of a WebSocket.
      {"message_bytes", "bodies"},
      {"unread_bytes", "bodies"},
      {"unsent_bytes", "unsent"},
      // Of a request.
      {"header_bytes", "bodies"},
      {"body_bytes", "bodies"},
      {"all_bodies_bytes", "bodies"},
      {"bodies_of_caller_bytes", "bodies"},
      {"strangers_bodies_bytes", "bodies"},
      {"all_unsent_bytes", "unsent"},
      {"unsent_of_caller_bytes", "unsent"},
      // Of the gateway.
      {"files_bytes", "files"},
      {"updates_bytes", "updates"},
      {"updates_of_client_bytes", "updates"},
      // The part of a head that is read before it counts.
      {"kFirstReadBytes", kEach},
  };
  std::set<std::string> shares = {kEach};
  for (const auto& share : MemoryBudget().Shares()) shares.insert(share.table);
  std::set<std::string> declared = {"kFirstReadBytes"};
  for (const char* file : {"http/http_limits.h", "memory_budget.h"}) {
    std::ifstream header(absl::StrCat(CALLSLIP_SOURCE_DIR, "/services/gateway/", file));
    ASSERT_TRUE(header.is_open()) << file;
    static const std::regex member(R"(\b(?:size_t|u?int(?:32|64)_t) (\w+_bytes) = )");
    for (std::string line; std::getline(header, line);) {
      std::smatch match;
      if (std::regex_search(line, match, member)) declared.insert(match[1]);
    }
  }
  for (const std::string& name : declared) {
    ASSERT_TRUE(counted.contains(name)) << "nothing says what " << name << " counts among";
    EXPECT_TRUE(shares.contains(counted.at(name))) << name;
  }
  EXPECT_EQ(declared.size(), counted.size());
  // The limit of one caller or one request is not above that of all.
  const HttpLimits http;
  EXPECT_LE(http.body_bytes, http.bodies_of_caller_bytes);
  EXPECT_LE(http.bodies_of_caller_bytes, http.all_bodies_bytes);
  EXPECT_LE(http.unsent_of_caller_bytes, http.all_unsent_bytes);
  EXPECT_LE(http.web_socket.message_bytes, http.web_socket.unread_bytes);
  EXPECT_LE(http.web_socket.unsent_bytes, http.unsent_of_caller_bytes);
  EXPECT_LE(MemoryBudget().updates_of_client_bytes, MemoryBudget().updates_bytes);
  for (const auto& share : MemoryBudget().Shares()) {
    if (share.table != std::string("connections")) continue;
    EXPECT_LE(static_cast<int64_t>(http.connections * RequestParser::kFirstReadBytes), share.bytes);
  }
}

TEST(GatewayMemoryBudgetTest, ErrorForTooSmallBudgetNamesRequiredSize) {
  const absl::Status refused = MemoryBudget::Of(128 * kMebibyte).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(refused.message());
  const size_t at = message.rfind("at least ");
  ASSERT_NE(at, std::string::npos) << message;
  const int64_t least = std::stoll(message.substr(at + 9)) * kMebibyte;
  EXPECT_OK(MemoryBudget::Of(least));
  EXPECT_FALSE(MemoryBudget::Of(least - 2 * kMebibyte).ok());
}

}  // namespace
}  // namespace callslip::gateway
