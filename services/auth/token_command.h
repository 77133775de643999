#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace callslip {

// Runs `callslip-gateway token` with its arguments and returns the text to print:
//   list                          the principals in the file, without their tokens
//   add ROLE NAME [target=A,B] [worker=NAME]   adds a new token, which is printed once
//   remove NAME|FINGERPRINT       removes all lines of that name, or the one with that fingerprint
// The file is named by `--token-file FILE` in `arguments`, else by `token_file`. Programs that use
// it apply the change within a second. INVALID_ARGUMENT, with the usage; NOT_FOUND if there is
// nothing to remove; FAILED_PRECONDITION if no principal would remain; and the errors of the file.
absl::StatusOr<std::string> RunTokenCommand(std::vector<std::string> arguments,
                                            std::string token_file);

}  // namespace callslip
