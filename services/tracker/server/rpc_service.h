#ifndef CALLSLIP_TRACKER_SERVER_RPC_SERVICE_H_
#define CALLSLIP_TRACKER_SERVER_RPC_SERVICE_H_

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/support/async_stream.h"
#include "tracker/server/request_limits.h"

namespace callslip::tracker::internal {

// A request that gRPC fills in: only where nothing of it is beyond its limits, else it stays empty
// and `refused` says why.
struct IncomingRequest {
  google::protobuf::Message* message = nullptr;
  const RequestShape* shape = nullptr;
  absl::Status refused;
};

// What is read and written of a call, of whatever kind.
using CallStream = grpc::ServerAsyncReaderWriter<google::protobuf::Message, IncomingRequest>;

// A service as its descriptor has it, whose calls are accepted from completion queues. In place of
// the generated classes, which know the type of each message: the calls of all methods are then
// served by the same code (async_server_calls.h), compiled once.
class RpcService final : public grpc::Service {
 public:
  // `name` in full, as in `package.Service`. Crashes where no such service is linked in.
  explicit RpcService(absl::string_view name);

  const std::string& name() const { return descriptor_->full_name(); }

  // Crashes where the service has no such method.
  const google::protobuf::MethodDescriptor& Method(absl::string_view name) const;

  // Has gRPC fill in the next call of a method, and `tag` then come out of `queue`: its head is
  // here then, and nothing more is read unasked. After the server was started.
  void Accept(const google::protobuf::MethodDescriptor& method, grpc::ServerContext* context,
              CallStream* stream, grpc::ServerCompletionQueue* queue, void* tag);

 private:
  const google::protobuf::ServiceDescriptor* const descriptor_;
  std::deque<std::string> paths_;  // Of the methods. gRPC keeps pointers to them.
};

}  // namespace callslip::tracker::internal

template <>
class grpc::SerializationTraits<callslip::tracker::internal::IncomingRequest> {
 public:
  static Status Deserialize(ByteBuffer* bytes,
                            callslip::tracker::internal::IncomingRequest* request);
};

#endif  // CALLSLIP_TRACKER_SERVER_RPC_SERVICE_H_
