#pragma once

#include <memory>
#include <optional>

#include "common/tls_files.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"

// How the two ends of a gRPC connection authenticate: not at all, or with TLS 1.2 or later. Changed
// files apply to new connections within a second or two.
namespace callslip {

// For a listener. With authorities, it requires a certificate from its peers.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const std::optional<TlsFiles>& tls);

// For a client. The server's certificate must contain the server's name.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const std::optional<TlsFiles>& tls);

// For a process that calls itself: it does not verify the server's certificate.
std::shared_ptr<grpc::ChannelCredentials> OwnChannelCredentials(const std::optional<TlsFiles>& tls);

}  // namespace callslip
