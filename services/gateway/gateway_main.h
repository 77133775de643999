#ifndef CALLSLIP_GATEWAY_GATEWAY_MAIN_H_
#define CALLSLIP_GATEWAY_GATEWAY_MAIN_H_

#include "gateway/gateway_server.h"

namespace callslip::gateway {

// The program callslip-gateway: runs until SIGTERM or SIGINT. Returns its exit code.
int GatewayMain(int argc, char** argv, const ExtendCatalog& extend_catalog = nullptr);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_GATEWAY_MAIN_H_
