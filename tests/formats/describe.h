#ifndef CALLSLIP_TESTS_FORMATS_DESCRIBE_H_
#define CALLSLIP_TESTS_FORMATS_DESCRIBE_H_

#include <string>

#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// All that an entry says, as a line of text. Test code only.
std::string Describe(const JournalEntry& entry);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TESTS_FORMATS_DESCRIBE_H_
