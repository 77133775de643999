#include "common/name_lookup.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <atomic>
#include <memory>
#include <thread>

#include "common/mutex.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Minutes(10);

absl::StatusOr<std::vector<SocketAddress>> Known(const std::string&, const std::string&) {
  return std::vector<SocketAddress>(1);
}

absl::StatusOr<std::vector<SocketAddress>> Unknown(const std::string&, const std::string&) {
  return absl::UnavailableError("unknown");
}

// A name server that answers only after Answer().
class SilentResolver {
 public:
  ~SilentResolver() { Answer(); }

  NameLookup::Resolver Resolve(NameLookup::Resolver answer = &Known) const {
    return
        [told = told_, asked = asked_, answer](const std::string& host, const std::string& port) {
          ++*asked;
          told->Wait();
          return answer(host, port);
        };
  }
  void Answer() { told_->Notify(); }
  int asked() const { return *asked_; }

 private:
  const std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);
  const std::shared_ptr<Notification> told_ = std::make_shared<Notification>();
};

std::string ErrorOf(NameLookup& lookup, absl::Duration within = kPatience) {
  return std::string(lookup.Wait(within).status().message());
}

TEST(NameLookupTest, AddressNeedsNoResolver) {
  const SilentResolver silent;
  NameLookup lookup("127.0.0.1", "7890", silent.Resolve());
  ASSERT_OK_AND_ASSIGN(const std::vector<SocketAddress> addresses, lookup.Wait(kPatience));
  ASSERT_EQ(addresses.size(), 1u);
  const auto& address = reinterpret_cast<const sockaddr_in&>(addresses[0].storage);
  EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  EXPECT_EQ(ntohs(address.sin_port), 7890);
  NameLookup other("::1", "7890", silent.Resolve());
  EXPECT_OK(other.Wait(kPatience));
}

TEST(NameLookupTest, ResolvesName) {
  NameLookup lookup("localhost", "80");
  EXPECT_OK(lookup.Wait(kPatience));
}

TEST(NameLookupTest, ReportsUnknownName) {
  NameLookup lookup("nowhere.test", "80", &Unknown);
  EXPECT_EQ(ErrorOf(lookup), "unknown");
}

TEST(NameLookupTest, WaitForSilentServerTimesOutOrIsCancelled) {
  const SilentResolver silent;
  NameLookup lookup("nowhere.test", "80", silent.Resolve());
  EXPECT_THAT(ErrorOf(lookup, absl::Milliseconds(1)), HasSubstr("within 1ms"));
  std::thread canceller([&] { lookup.Cancel(); });
  EXPECT_THAT(ErrorOf(lookup), HasSubstr("cancelled"));
  canceller.join();
}

TEST(NameLookupTest, RepeatedWaitGetsAnswerOfSlowServer) {
  SilentResolver slow;
  NameLookup lookup("nowhere.test", "80", slow.Resolve());
  EXPECT_THAT(ErrorOf(lookup, absl::Milliseconds(1)), HasSubstr("within 1ms"));
  EXPECT_THAT(ErrorOf(lookup, absl::Milliseconds(1)), HasSubstr("within 1ms"));
  slow.Answer();
  EXPECT_OK(lookup.Wait(kPatience));
  EXPECT_EQ(slow.asked(), 1);
}

TEST(NameLookupTest, AddressesAreCached) {
  SilentResolver resolver;
  resolver.Answer();
  NameLookup lookup("nowhere.test", "80", resolver.Resolve(), absl::InfiniteDuration());
  EXPECT_OK(lookup.Wait(kPatience));
  EXPECT_OK(lookup.Wait(kPatience));
  EXPECT_EQ(resolver.asked(), 1);
  NameLookup brief("nowhere.test", "80", resolver.Resolve(), -absl::Seconds(1));
  EXPECT_OK(brief.Wait(kPatience));
  EXPECT_OK(brief.Wait(kPatience));
  EXPECT_EQ(resolver.asked(), 3);
}

TEST(NameLookupTest, FailureIsNotCached) {
  SilentResolver resolver;
  resolver.Answer();
  NameLookup lookup("nowhere.test", "80", resolver.Resolve(&Unknown), absl::InfiniteDuration());
  EXPECT_EQ(ErrorOf(lookup), "unknown");
  EXPECT_EQ(ErrorOf(lookup), "unknown");
  EXPECT_EQ(resolver.asked(), 2);
}

TEST(NameLookupTest, AbandonedLookupsAreLimited) {
  SilentResolver silent;
  for (int i = 0; i < NameLookup::kMaxThreads; ++i) {
    NameLookup lookup("nowhere.test", "80", silent.Resolve());
    ErrorOf(lookup, absl::ZeroDuration());
  }
  NameLookup more("nowhere.test", "80", &Unknown);
  EXPECT_THAT(ErrorOf(more), HasSubstr("no name server answers"));
  silent.Answer();
  // There is room again when they have ended.
  while (true) {
    NameLookup again("nowhere.test", "80", &Unknown);
    if (ErrorOf(again) == "unknown") break;
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace callslip
