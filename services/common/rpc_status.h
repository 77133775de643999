#pragma once

#include "absl/status/status.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

namespace callslip {

// Carries an absl::Status over gRPC: the canonical code and message unchanged, the ErrorDetails as
// trailing metadata (callslip-reason, callslip-hint, callslip-retry-after-ms, callslip-depth). Text
// metadata rather than google.rpc details: readable in every client and command-line tool without
// further protos.

// Call it before the call is finished, because it adds trailing metadata to `context`.
grpc::Status ToGrpc(const absl::Status& status, grpc::ServerContextBase& context);

// Call it after the call has finished, because it reads the trailing metadata of `context`.
absl::Status FromGrpc(const grpc::Status& status, const grpc::ClientContext& context);

}  // namespace callslip
