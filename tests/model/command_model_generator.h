#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>

#include "model/command_model_driver.h"

namespace callslip::tracker {

// Draws schedules. It sees the model, so that most operations are about something that exists.
class ScheduleGenerator {
 public:
  explicit ScheduleGenerator(uint64_t seed) : random_(seed) {
    for (int& weight : weights_) weight = kScale[Below(kScale.size())];
  }

  Setup DrawSetup();
  Op Draw(int slot, const ModelDriver& driver);

 private:
  // The factors for the frequency of an operation in a schedule: uneven schedules reach states that
  // an average one does not.
  static constexpr std::array<int, 5> kScale = {0, 1, 2, 2, 6};

  size_t Below(size_t bound) { return static_cast<size_t>(random_() % bound); }
  int Index(int bound) { return static_cast<int>(Below(static_cast<size_t>(bound))); }
  bool OneIn(size_t times) { return Below(times) == 0; }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return *(values.begin() + Below(values.size()));
  }

  OpKind DrawKind(const ModelDriver& driver);
  // A command, preferably one that has not ended, or null.
  const ModelCommand* DrawCommand(const ModelDriver& driver, bool delivered);
  void DrawRegistration(Op& op);
  void DrawReport(Op& op, const ModelDriver& driver);
  void DrawLease(Op& op, const ModelDriver& driver);

  std::mt19937_64 random_;
  std::array<int, kOpKinds> weights_;
  // How many different ones a schedule uses.
  int clients_ = 1 + Index(3);
  int targets_ = 1 + Index(3);
  int workers_ = 1 + Index(3);
  bool drains_ = false;
  bool restarts_ = false;
};

// Draws and runs the schedule of a seed. `schedule` gets the operations up to the first
// disagreement, which is returned. Adds what the model reached to `reached`, if it is not null.
std::string RunSeed(uint64_t seed, ModelMistake mistake, Schedule& schedule,
                    std::map<std::string, int64_t>* reached);

}  // namespace callslip::tracker
