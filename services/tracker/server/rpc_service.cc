#include "tracker/server/rpc_service.h"

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

}  // namespace

RpcService::RpcService(absl::string_view name) : descriptor_(FindService(name)) {
  for (int i = 0; i < descriptor_->method_count(); ++i) {
    const MethodDescriptor& method = *descriptor_->method(i);
    paths_.push_back(absl::StrCat("/", descriptor_->full_name(), "/", method.name()));
    // Registers all methods with gRPC as streaming: for others it would read the request before it
    // passes on the call, from any caller.
    AddMethod(new grpc::internal::RpcServiceMethod(paths_.back().c_str(), RpcMethod::BIDI_STREAMING,
                                                   nullptr));
    MarkMethodAsync(i);
  }
}

const MethodDescriptor& RpcService::Method(absl::string_view name) const {
  const MethodDescriptor* method = descriptor_->FindMethodByName(std::string(name));
  if (method == nullptr) Crash("method", absl::StrCat(descriptor_->full_name(), ".", name));
  return *method;
}

void RpcService::Accept(const MethodDescriptor& method, grpc::ServerContext* context,
                        CallStream* stream, grpc::ServerCompletionQueue* queue, void* tag) {
  RequestAsyncBidiStreaming(method.index(), context, stream, queue, queue, tag);
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
