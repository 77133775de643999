#ifndef CALLSLIP_AUTH_TOKEN_COMMAND_H_
#define CALLSLIP_AUTH_TOKEN_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace callslip {

// What `callslip-gateway token` does with its arguments, as text to print:
//   list                          who is in the file, without their tokens
//   add ROLE NAME [target=A,B] [worker=NAME]   a new token, which is printed once
//   remove NAME|FINGERPRINT       all lines of that name, or the one of that fingerprint
// The file is that of `--token-file FILE` among them, else `token_file`. Programs that use it take
// the change on within a second. INVALID_ARGUMENT with how it is called; NOT_FOUND where there is
// nothing to remove; FAILED_PRECONDITION where nobody would be left; and the errors of the file.
absl::StatusOr<std::string> RunTokenCommand(std::vector<std::string> arguments,
                                            std::string token_file);

}  // namespace callslip

#endif  // CALLSLIP_AUTH_TOKEN_COMMAND_H_
