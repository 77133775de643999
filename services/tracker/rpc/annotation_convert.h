#pragma once

#include "callslip/tracker/v1/annotation.pb.h"
#include "callslip/tracker/v1/annotation_service.pb.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/server/call_context.h"

// Conversions between the messages of annotation_service.proto and the domain's types, and nothing
// else; the domain checks limits.
namespace callslip::tracker {

AnnotationRequest RequestFrom(const CallContext& caller,
                              const v1::RequestAnnotationsRequest& request);
AnnotationQuery QueryFrom(const v1::ListAnnotationsRequest& request);
// InvalidField if its content is not a drawing.
absl::StatusOr<Drawing> DrawingFrom(const v1::Drawing& drawing);

void Fill(const Drawing& drawing, v1::Drawing& message);

}  // namespace callslip::tracker
