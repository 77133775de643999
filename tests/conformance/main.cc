// callslip-gateway with the fixtures of the official conformance suite.
#include "conformance/conformance_fixtures.h"
#include "gateway/gateway_main.h"

int main(int argc, char** argv) {
  return callslip::gateway::GatewayMain(argc, argv, callslip::gateway::AddConformanceFixtures);
}
