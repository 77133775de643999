#pragma once

#include <cstdio>
#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {

// Implements `callslip-tracker inspect`: writes the contents of a data directory to `out`, for
// people. Changes nothing, and works while a tracker is running. NOT_FOUND if there is no such
// directory; DATA_LOSS if its commands are damaged, after writing what can be read.
absl::Status InspectDataDirectory(const std::string& path, std::FILE* out);
// The same for a database, in the format of --storage; errors are those of a connection.
absl::Status InspectDatabase(const std::string& url, std::FILE* out);

// Implements `inspect --command ID`: writes the time of each step of that command, and the ids with
// which a trace collector has it. NOT_FOUND if there is no such command.
absl::Status InspectCommand(const std::string& path, const std::string& id, std::FILE* out);
absl::Status InspectCommandInDatabase(const std::string& url, const std::string& id,
                                      std::FILE* out);

}  // namespace callslip::tracker
