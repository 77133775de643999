#include "tracker/rpc/session_span.h"

#include <utility>

#include "telemetry/session_trace.h"
#include "telemetry/span_sink.h"

namespace callslip::tracker {

void RecordSession(const SessionMetadata& session, const std::optional<SessionMetadata>& parent) {
  SpanSink* sink = Spans();
  const TraceContext context = TraceOfSession(session.session_id, session.created_at);
  if (sink == nullptr || !context.sampled()) return;
  const int64_t now = sink->NowNanos();
  Span span{.name = "session",
            .context = context,
            .start_nanos = now,
            .end_nanos = now,
            .attributes = {{"gen_ai.conversation.id", session.session_id}}};
  if (!session.acp_server.empty()) {
    span.attributes.push_back({"gen_ai.agent.name", session.acp_server});
  }
  if (parent.has_value()) {
    span.links.push_back(TraceOfSession(parent->session_id, parent->created_at));
  }
  sink->Record(std::move(span));
}

}  // namespace callslip::tracker
