#pragma once

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

// A request that gRPC fills in if all its fields are within their limits; otherwise it stays empty
// and `refused` states the reason.
struct IncomingRequest {
  google::protobuf::Message* message = nullptr;
  const RequestShape* shape = nullptr;
  absl::Status refused;
};

// Reads and writes the messages of a call of any kind.
using CallStream = grpc::ServerAsyncReaderWriter<google::protobuf::Message, IncomingRequest>;

// A service made from its descriptor, whose calls are accepted from completion queues. Replaces the
// generated classes, which know the type of each message: this way the same code, compiled once,
// serves the calls of all methods (async_server_calls.h).
class RpcService final : public grpc::Service {
 public:
  // `name` is the full name, as in `package.Service`. Crashes if no such service is linked in.
  explicit RpcService(absl::string_view name);

  const std::string& name() const { return descriptor_->full_name(); }

  // Crashes if the service has no such method.
  const google::protobuf::MethodDescriptor& Method(absl::string_view name) const;

  // Makes gRPC fill in the next call of a method and then put `tag` into `queue`. The head of the
  // call has then arrived, and nothing more is read until requested. Call after the server was
  // started.
  void Accept(const google::protobuf::MethodDescriptor& method, grpc::ServerContext* context,
              CallStream* stream, grpc::ServerCompletionQueue* queue, void* tag);

 private:
  const google::protobuf::ServiceDescriptor* const descriptor_;
  std::deque<std::string> paths_;  // The paths of the methods. gRPC keeps pointers to them.
};

}  // namespace callslip::tracker::internal

template <>
class grpc::SerializationTraits<callslip::tracker::internal::IncomingRequest> {
 public:
  static Status Deserialize(ByteBuffer* bytes,
                            callslip::tracker::internal::IncomingRequest* request);
};
