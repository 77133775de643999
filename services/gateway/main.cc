#include "gateway/gateway_main.h"

int main(int argc, char** argv) { return callslip::gateway::GatewayMain(argc, argv); }
