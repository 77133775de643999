// The roles that may call each method of the protos, compared with docs/access.md.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/access_table.h"
#include "tracker/rpc/access_fixture.h"
#include "tracker/server/rpc_access.h"

namespace callslip::tracker {
namespace {

using google::protobuf::MethodDescriptor;
using ::testing::IsEmpty;

constexpr char kDocs[] = CALLSLIP_SOURCE_DIR "/docs";

bool IsRefusal(const absl::Status& outcome) {
  const std::string reason = DetailsOf(outcome).reason;
  return absl::IsUnauthenticated(outcome) || reason == "role_not_allowed";
}

class MethodsTest : public AccessTest {
 protected:
  // Every deviation from docs/access.md.
  std::vector<std::string> Deviations(const std::vector<Caller>& callers) {
    const auto documented = DocumentedAccess(kDocs, "method");
    std::vector<std::string> deviations;
    for (const MethodDescriptor* method : AllMethods()) {
      const auto row = documented.find(method->full_name());
      if (row == documented.end()) {
        deviations.push_back(absl::StrCat(method->full_name(), " has no row in docs/access.md"));
        continue;
      }
      for (const Caller& caller : callers) {
        const absl::Status outcome = Outcome(*method, caller);
        const bool may = row->second.count(caller.column) > 0;
        if (IsRefusal(outcome) != may) continue;
        deviations.push_back(absl::StrCat(method->full_name(), " by ", caller.name, ": ",
                                          outcome.ToString(), ", docs: ", may ? "yes" : "no"));
      }
    }
    return deviations;
  }
};

class GuardedMethodsTest : public MethodsTest {
 protected:
  GuardedMethodsTest() {
    UseTokens();
    Serve();
  }
};

class OpenMethodsTest : public MethodsTest {
 protected:
  OpenMethodsTest() { Serve(); }
};

TEST(RpcAccessTest, EveryMethodHasAnAccessRuleAndARowInTheDocs) {
  std::vector<std::string> methods;
  for (const MethodDescriptor* method : AllMethods()) {
    methods.push_back(method->full_name());
    EXPECT_TRUE(AccessOf(*method).has_value()) << method->full_name();
  }
  std::vector<std::string> documented;
  for (const auto& [method, who] : DocumentedAccess(kDocs, "method")) documented.push_back(method);
  EXPECT_THAT(documented, testing::UnorderedElementsAreArray(methods));
}

// Clients repeat such calls when a connection breaks. A repeated call would move or open a player
// twice.
TEST(RpcAccessTest, ReadOnlyMethodsAreIdempotent) {
  const auto is_idempotent = [](const MethodDescriptor& method) {
    return method.options().idempotency_level() == google::protobuf::MethodOptions::NO_SIDE_EFFECTS;
  };
  for (const MethodDescriptor* method : AllMethods()) {
    const bool streams = method->client_streaming() || method->server_streaming();
    const bool reads = AccessOf(*method)->kind == RpcAccess::Kind::kReads;
    const bool is_of_player = absl::EndsWith(method->name(), "Player");
    EXPECT_EQ(is_idempotent(*method), reads && !streams && !is_of_player) << method->full_name();
  }
}

TEST_F(GuardedMethodsTest, AccessMatchesTheDocs) { EXPECT_THAT(Deviations(Callers()), IsEmpty()); }

TEST_F(OpenMethodsTest, AccessWithoutTokensMatchesTheDocs) {
  EXPECT_THAT(Deviations({{"local", "without a token", ""},
                          {"nobody", "with a token", TokenOf("admin")},
                          {"gateway", "over the unix socket", "", true}}),
              IsEmpty());
}

}  // namespace
}  // namespace callslip::tracker
