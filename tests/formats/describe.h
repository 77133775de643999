#pragma once

#include <string>

#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// All that an entry says, as a line of text. Test code only.
std::string Describe(const JournalEntry& entry);

}  // namespace callslip::tracker
