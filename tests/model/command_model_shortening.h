#pragma once

#include <string>

#include "model/command_model.h"
#include "model/command_model_schedule.h"

namespace callslip::tracker {

// The kind of a disagreement: its text without numbers and quoted names.
std::string KindOf(const std::string& disagreement);

// Removes the operations from a schedule that its disagreement does not need: half of them, then
// smaller and smaller parts, until all the others are needed (Zeller's delta debugging). Test code
// only.
Schedule Shorten(Schedule schedule, ModelMistake mistake);

}  // namespace callslip::tracker
