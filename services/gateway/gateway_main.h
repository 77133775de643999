#pragma once

#include "gateway/gateway_server.h"

namespace callslip::gateway {

// The program callslip-gateway: runs until SIGTERM or SIGINT. Returns its exit code.
int GatewayMain(int argc, char** argv, const ExtendCatalog& extend_catalog = nullptr);

}  // namespace callslip::gateway
