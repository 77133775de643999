#pragma once

#include "gateway/http/router.h"

namespace callslip::gateway {

// GET /api/me, for all readers: the caller's identity and rights, {name, role, may_act,
// sees_all_clients, tokens, version}. `role` is `local` for a caller that needs no token; `tokens`:
// whether other callers need one.
void AddWhoAmI(Router& router, bool tokens);

}  // namespace callslip::gateway
