#pragma once

#include <string>

#include "model/command_model.h"
#include "model/command_model_schedule.h"

namespace callslip::tracker {

// What a disagreement is about, without the numbers and names of its schedule.
std::string KindOf(const std::string& disagreement);

// Leaves out of a schedule what is not needed for its disagreement: half of the operations, then
// smaller and smaller parts, until none can be spared (Zeller's delta debugging). Test code only.
Schedule Shorten(Schedule schedule, ModelMistake mistake);

}  // namespace callslip::tracker
