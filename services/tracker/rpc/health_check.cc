#include "tracker/rpc/health_check.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/support/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace callslip::tracker {
namespace {

// HealthCheckResponse{status: SERVING} on the wire: field 1, varint 1. An empty message is the
// HealthCheckRequest for the whole server. Debian ships the service but not its proto.
constexpr char kServing[] = "\x08\x01";

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return "";
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

absl::Status CheckHealth(const Address& address, absl::Duration timeout) {
  grpc::GenericStub stub(
      grpc::CreateChannel(address.ToString(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(absl::ToInt64Milliseconds(timeout), GPR_TIMESPAN));
  grpc::CompletionQueue queue;
  const grpc::ByteBuffer request(nullptr, 0);
  const auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, &response);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) {
    return absl::UnavailableError(absl::StrCat("the tracker at ", address.ToString(),
                                               " does not answer: ", status.error_message()));
  }
  if (BytesOf(response) != kServing) {
    return absl::UnavailableError(
        absl::StrCat("the tracker at ", address.ToString(), " is not serving"));
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
