#pragma once

#include "absl/status/status.h"
#include "callslip/tracker/v1/annotation_service.pb.h"
#include "common/clock.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/server/async_server.h"
#include "tracker/server/call_context.h"

namespace callslip::tracker {

// AnnotationService over an AnnotationStore: converts, calls the store, converts back. The contract
// is in annotation_service.proto. Must outlive the server that it serves on.
class AnnotationService {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.AnnotationService";

  AnnotationService(Clock* clock, AnnotationStore* store) : clock_(clock), store_(store) {}

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

 private:
  UnaryMethod<v1::RequestAnnotationsRequest, v1::RequestAnnotationsResponse> Request;
  UnaryMethod<v1::AppendAnnotationsRequest, v1::AppendAnnotationsResponse> Append;
  UnaryMethod<v1::ListAnnotationsRequest, v1::ListAnnotationsResponse> List;

  Clock* const clock_;
  AnnotationStore* const store_;
};

}  // namespace callslip::tracker
