// callslip-gateway, with what the official conformance suite wants to call.
#include "conformance/conformance_fixtures.h"
#include "gateway/gateway_main.h"

int main(int argc, char** argv) {
  return callslip::gateway::GatewayMain(argc, argv, callslip::gateway::AddConformanceFixtures);
}
