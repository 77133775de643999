#pragma once

#include <variant>

#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "gateway/extension/sync_request.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// A command in the format of a KaBOOM or Gasoline extension: {"id", "type", "params",
// "correlation_id", "tab_id"?}. If the format has no equivalent, the error that ends the command,
// which was not executed.
std::variant<Json, v1::CommandError> SyncCommand(const v1::CommandLease& lease,
                                                 const SyncRequest& caller);

}  // namespace callslip::gateway
