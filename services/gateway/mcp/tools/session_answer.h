#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_ANSWER_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_ANSWER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/session_service.pb.h"
#include "gateway/json/parse.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// What an agent has said in the last turn of its session: {"text", "outcome"?, "reason"?, "files"?,
// "omitted_bytes"?}. `events` are the session's last ones in their order, from
// the turn's `user_prompt` on or, where that lies further back, as far back as is known; those
// before it do not count. Pieces of one message are put together, and an empty line stands between
// two. Of a text above `max_bytes` the end is kept. `files` are those that the turn has changed, at
// most 50. There is an outcome once the turn has ended.
Json LastAnswerJson(const std::vector<v1::SessionEvent>& events, size_t max_bytes);

// The events of the last turn of a session, from its `user_prompt` on and some before that.
boost::asio::awaitable<absl::StatusOr<std::vector<v1::SessionEvent>>> ReadLastTurn(
    TrackerCalls& sessions, std::string client, std::string session_id);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_ANSWER_H_
