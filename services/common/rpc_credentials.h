#ifndef CALLSLIP_COMMON_RPC_CREDENTIALS_H_
#define CALLSLIP_COMMON_RPC_CREDENTIALS_H_

#include <memory>
#include <optional>

#include "common/tls_files.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"

// How the ends of a gRPC connection prove who they are: by nothing, or with TLS 1.2 at least. Files
// that change are taken on for the connections to come, within a second or two.
namespace callslip {

// Of a listener. With authorities it asks its peers for a certificate.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const std::optional<TlsFiles>& tls);

// Of who connects. The name of the other side has to be in its certificate.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const std::optional<TlsFiles>& tls);

// The same for a process that calls itself, of whose certificate it only wants to know that it
// works.
std::shared_ptr<grpc::ChannelCredentials> OwnChannelCredentials(const std::optional<TlsFiles>& tls);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_RPC_CREDENTIALS_H_
