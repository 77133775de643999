#pragma once

#include "tracker/domain/session/shell_commands.h"

namespace callslip::tracker {

// {"command": "make"}, and {"output": "…", "exit_code": 0}; any other result is output as it is.
extern const ShellFormat kShellJson;

}  // namespace callslip::tracker
