#ifndef CALLSLIP_TRACKER_STORAGE_SHELL_JSON_H_
#define CALLSLIP_TRACKER_STORAGE_SHELL_JSON_H_

#include "tracker/domain/session/shell_commands.h"

namespace callslip::tracker {

// {"command": "make"}, and {"output": "…", "exit_code": 0}; any other result is output as it is.
extern const ShellFormat kShellJson;

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_SHELL_JSON_H_
