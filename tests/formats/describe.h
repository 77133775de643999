#pragma once

#include <string>

#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// An entry's content as a line of text. Test code only.
std::string Describe(const JournalEntry& entry);

}  // namespace callslip::tracker
