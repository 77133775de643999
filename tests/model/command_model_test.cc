// Random schedules of calls against CommandTable, each compared with CommandModel call by call.
//
//   CALLSLIP_MODEL_SEED=n        runs this one schedule and prints it
//   CALLSLIP_MODEL_SCHEDULES=n   runs n schedules in each group

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "model/command_model_generator.h"
#include "model/command_model_shortening.h"

namespace callslip::tracker {
namespace {

std::optional<uint64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  if (text == nullptr || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

// Reports the first disagreement of each kind.
class Reporter {
 public:
  void Run(uint64_t seed) {
    Schedule schedule;
    const std::string disagreement = RunSeed(seed, ModelMistake::kNone, schedule, &reached_);
    if (disagreement.empty() || !kinds_.insert(KindOf(disagreement)).second) return;
    const Schedule shortened = Shorten(schedule, ModelMistake::kNone);
    ADD_FAILURE() << "CALLSLIP_MODEL_SEED=" << seed << " disagrees: " << disagreement
                  << "\nshortened from " << schedule.ops.size() << " to " << shortened.ops.size()
                  << " operations: " << RunSchedule(shortened, ModelMistake::kNone) << "\n"
                  << ToString(shortened);
  }

  // More would only hide the first ones.
  bool has_enough() const { return kinds_.size() >= 8; }
  const std::map<std::string, int64_t>& reached() const { return reached_; }

 private:
  std::set<std::string> kinds_;
  std::map<std::string, int64_t> reached_;
};

// Each answer, end, limit and event that every group of schedules has to reach.
constexpr std::array kToBeReached = {
    "answer ok",
    "answer ALREADY_EXISTS command_removed",
    "answer ALREADY_EXISTS request_id_reused",
    "answer FAILED_PRECONDITION already_ended",
    "answer FAILED_PRECONDITION not_a_dead_letter",
    "answer INVALID_ARGUMENT invalid_argument",
    "answer INVALID_ARGUMENT result_too_large",
    "answer NOT_FOUND command_removed",
    "answer NOT_FOUND unknown_command",
    "answer PERMISSION_DENIED wrong_lease",
    "answer RESOURCE_EXHAUSTED queue_full",
    "answer RESOURCE_EXHAUSTED too_many_bytes",
    "answer RESOURCE_EXHAUSTED too_many_commands",
    "answer RESOURCE_EXHAUSTED too_many_waits",
    "answer UNAVAILABLE draining",
    "end cancelled by its client",
    "end completed by its worker",
    "end expired by its client",
    "end expired extension_no_response",
    "end expired never_delivered",
    "end expired result_expired",
    "end expired schedule_to_close",
    "end expired user_did_not_finish",
    "end failed by its worker",
    "end failed result_dropped",
    "end failed worker_lost",
    "end timed_out by its worker",
    "end timed_out execution_timeout",
    "event a command waits for a suspended worker",
    "event a held call is given work",
    "event a late result is kept",
    "event a lease is given back",
    "event a queued command is completed",
    "event a result of an earlier worker is accepted",
    "event a tombstone is forgotten in time",
    "event a worker is told of an end",
    "event an ended lease is acknowledged",
    "event redelivered",
    "event several deadlines at once",
    "event the table is made anew",
    "limit commands",
    "limit commands_of_client",
    "limit failed_of_client",
    "limit failed_of_client, cancelled",
    "limit filters_of_client",
    "limit payload_bytes",
    "limit payload_bytes_of_client",
    "limit queued",
    "limit queued_of_client",
    "limit tombstones",
    "limit waits",
    "limit waits_of_client",
};

class CommandModelTest : public testing::TestWithParam<int> {};

TEST_P(CommandModelTest, TableFollowsContract) {
  if (const auto seed = FromEnvironment("CALLSLIP_MODEL_SEED")) {
    if (GetParam() != 0) GTEST_SKIP() << "one seed is run, in the first group";
    Schedule schedule;
    RunSeed(*seed, ModelMistake::kNone, schedule, nullptr);
    std::puts(ToString(schedule).c_str());
    Reporter().Run(*seed);
    return;
  }
  constexpr uint64_t kSchedules = 1000;
  const uint64_t schedules = FromEnvironment("CALLSLIP_MODEL_SCHEDULES").value_or(kSchedules);
  Reporter reporter;
  for (uint64_t i = 0; i < schedules && !reporter.has_enough(); ++i) {
    reporter.Run(static_cast<uint64_t>(GetParam()) * 1'000'000 + i);
  }
  for (const auto& [what, count] : reporter.reached()) {
    std::printf("%10ld  %s\n", static_cast<long>(count), what.c_str());
  }
  if (HasFailure() || schedules < kSchedules) return;
  for (const char* what : kToBeReached) {
    EXPECT_TRUE(reporter.reached().contains(what)) << what << " was never reached";
  }
}

INSTANTIATE_TEST_SUITE_P(Group, CommandModelTest, testing::Range(0, 6));

}  // namespace
}  // namespace callslip::tracker
