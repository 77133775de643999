#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_ANNOTATION_RESULT_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_ANNOTATION_RESULT_H_

#include <string>

#include "callslip/tracker/v1/annotation_service.pb.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/tool.h"

// What people have drawn, as models get to see it. Pictures are what makes drawings large: the
// screenshot of the latest comes as an image, all others are left out. Facts about elements follow
// where the rest still exceeds kMaxInlineResultBytes, and then the annotations that come last.
namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// True for the result of a request for annotations: a drawing, or a list of some.
bool IsAnnotationResult(const Json& result);

// Those of a list, oldest first, as an array. What is no drawing is left out: trackers of before
// took whatever came.
Json DrawingsOf(const v1::ListAnnotationsResponse& listed);

// An answer with `result`, of which IsAnnotationResult() is true: a drawing, or the drawings of a
// session, oldest first, as {"session", "drawings"}. `answer` is all else that structuredContent
// has. The text says `head`, then a line for each annotation. `uri` names the resource that holds
// all of it, where there is one.
ToolResult AnnotationResult(Json answer, Json result, const std::string& head,
                            const std::string& uri = "");

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_ANNOTATION_RESULT_H_
