#ifndef CALLSLIP_GATEWAY_API_WHO_AM_I_H_
#define CALLSLIP_GATEWAY_API_WHO_AM_I_H_

#include "gateway/http/router.h"

namespace callslip::gateway {

// GET /api/me, for whoever may look around: as whom the gateway knows the caller, {name, role,
// tokens, version}. `role` is `local` where nobody has to show who it is; `tokens`: whether others
// have to.
void AddWhoAmI(Router& router, bool tokens);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_API_WHO_AM_I_H_
