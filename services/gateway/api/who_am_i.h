#pragma once

#include <string>

#include "gateway/http/router.h"

namespace callslip::gateway {

// GET /api/me, for all readers: the caller's identity and rights, {name, role, may_act,
// sees_all_clients, tokens, version, extension_dir?}. `role` is `local` for a caller that needs no
// token; `tokens`: whether other callers need one; `extension_dir`: see GatewayConfig.
void AddWhoAmI(Router& router, bool tokens, const std::string& extension_dir);

}  // namespace callslip::gateway
