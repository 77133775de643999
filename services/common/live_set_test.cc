#include "common/live_set.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LiveSetTest, EntriesAreRemovedWithTheirPlaces) {
  LiveSet<int> set;
  std::optional<LiveSet<int>::Place> one = set.Add(1);
  const LiveSet<int>::Place two = set.Add(2);
  EXPECT_THAT(set.Entries(), ElementsAre(1, 2));
  one.reset();
  EXPECT_THAT(set.Entries(), ElementsAre(2));
}

TEST(LiveSetTest, PlacesCanBeMoved) {
  LiveSet<int> set;
  LiveSet<int>::Place place;
  {
    LiveSet<int>::Place first = set.Add(1);
    place = std::move(first);
  }
  EXPECT_THAT(set.Entries(), ElementsAre(1));
  place = {};
  EXPECT_THAT(set.Entries(), IsEmpty());
}

TEST(LiveSetTest, PlacesCanOutliveSet) {
  auto set = std::make_unique<LiveSet<int>>();
  const LiveSet<int>::Place place = set->Add(1);
  set = nullptr;
}

// A list of weak pointers would keep the memory of ended calls.
TEST(LiveSetTest, EndedCallsLeaveNoEntries) {
  struct Call {
    LiveSet<std::weak_ptr<Call>>::Place place;
  };
  LiveSet<std::weak_ptr<Call>> set;
  std::vector<std::shared_ptr<Call>> calls(3);
  for (auto& call : calls) {
    call = std::make_shared<Call>();
    call->place = set.Add(call);
  }
  calls.clear();
  EXPECT_THAT(set.Entries(), IsEmpty());
}

// The destructor of an entry uses the set.
TEST(LiveSetTest, EntriesAreDestroyedWithoutLock) {
  LiveSet<std::shared_ptr<void>> set;
  size_t left = 9;
  {
    const auto place =
        set.Add(std::shared_ptr<void>(nullptr, [&](void*) { left = set.Entries().size(); }));
  }
  EXPECT_EQ(left, 0u);
}

}  // namespace
}  // namespace callslip
