#include "common/address.h"

#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(AddressTest, AcceptedFormsAreFormattedAsWritten) {
  for (const char* text : {"127.0.0.1:7890", "localhost:0", "[::1]:7900", "unix:/run/callslip.sock",
                           "0.0.0.0:65535"}) {
    ASSERT_OK_AND_ASSIGN(const Address address, ParseAddress(text));
    EXPECT_EQ(address.ToString(), text);
  }
}

TEST(AddressTest, InvalidAddressesAreRefused) {
  for (const char* text :
       {"", "7890", "localhost", "localhost:", "localhost:x", "localhost:65536", "localhost:-1",
        ":7890", "::1:7890", "[::1]", "unix:", "[a]:1", "[localhost:0"}) {
    EXPECT_THAT(ParseAddress(text), FailsWith(absl::StatusCode::kInvalidArgument, "")) << text;
  }
}

TEST(AddressTest, RecognizesLoopback) {
  for (const char* text : {"127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "localhost:1", "unix:/x"}) {
    EXPECT_TRUE(ParseAddress(text)->IsLoopback()) << text;
  }
  for (const char* text :
       {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "localhost.example:1", "127.example:1"}) {
    EXPECT_FALSE(ParseAddress(text)->IsLoopback()) << text;
  }
}

}  // namespace
}  // namespace callslip
