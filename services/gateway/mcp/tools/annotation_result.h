#pragma once

#include <string>

#include "callslip/tracker/v1/annotation_service.pb.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/tool.h"

// The users' drawings, in the form that models see. Pictures make drawings large: the latest
// screenshot becomes an image, all others are omitted. If the rest still exceeds
// kMaxInlineResultBytes, the computed styles of elements are omitted too, and then the last
// annotations.
namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// True for the result of a request for annotations: a drawing, or a list of drawings.
bool IsAnnotationResult(const Json& result);

// The drawings of a list, oldest first, as an array. Omits entries that are not drawings: earlier
// trackers accepted any content.
Json DrawingsOf(const v1::ListAnnotationsResponse& listed);

// An answer with `result`, for which IsAnnotationResult() is true: a drawing, or the drawings of a
// session, oldest first, as {"session", "drawings"}. `answer` holds the other members of
// structuredContent. The text is `head`, then a line for each annotation. `uri` names the resource
// with the complete result; empty if there is none.
ToolResult AnnotationResult(Json answer, Json result, const std::string& head,
                            const std::string& uri = "");

}  // namespace callslip::gateway
