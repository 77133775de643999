#include "tracker/rpc/rpc_service.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace callslip::tracker::internal {
namespace {

using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using grpc::internal::RpcMethod;

[[noreturn]] void Crash(absl::string_view what, absl::string_view name) {
  std::fprintf(stderr, "%s\n", absl::StrCat("no ", what, " ", name, " in the protos").c_str());
  std::abort();
}

const ServiceDescriptor* FindService(absl::string_view name) {
  const ServiceDescriptor* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(std::string(name));
  if (service == nullptr) Crash("service", name);
  return service;
}

RpcMethod::RpcType TypeOf(const MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

}  // namespace

RpcService::RpcService(absl::string_view name) : descriptor_(FindService(name)) {
  for (int i = 0; i < descriptor_->method_count(); ++i) {
    const MethodDescriptor& method = *descriptor_->method(i);
    paths_.push_back(absl::StrCat("/", descriptor_->full_name(), "/", method.name()));
    AddMethod(new grpc::internal::RpcServiceMethod(paths_.back().c_str(), TypeOf(method), nullptr));
    MarkMethodAsync(i);
  }
}

const MethodDescriptor& RpcService::Method(absl::string_view name) const {
  const MethodDescriptor* method = descriptor_->FindMethodByName(std::string(name));
  if (method == nullptr) Crash("method", absl::StrCat(descriptor_->full_name(), ".", name));
  return *method;
}

void RpcService::Accept(const MethodDescriptor& method, grpc::ServerContext* context,
                        IncomingRequest* request,
                        grpc::internal::ServerAsyncStreamingInterface* stream,
                        grpc::ServerCompletionQueue* queue, void* tag) {
  if (request == nullptr) {
    RequestAsyncBidiStreaming(method.index(), context, stream, queue, queue, tag);
  } else {
    // The same for all calls with one request, whether they are answered once or with a stream.
    RequestAsyncUnary(method.index(), context, request, stream, queue, queue, tag);
  }
}

}  // namespace callslip::tracker::internal

grpc::Status grpc::SerializationTraits<callslip::tracker::internal::IncomingRequest>::Deserialize(
    ByteBuffer* bytes, callslip::tracker::internal::IncomingRequest* request) {
  {
    ProtoBufferReader look(bytes);
    if (!look.status().ok()) return look.status();
    request->refused = request->shape->Check(look);
  }
  if (request->refused.ok()) {
    return GenericDeserialize<ProtoBufferReader, google::protobuf::Message>(bytes,
                                                                            request->message);
  }
  bytes->Clear();
  return Status::OK;
}
