#include "gateway/mcp/protocol/sessions.h"

#include "common/random.h"

namespace callslip::gateway {

std::string Sessions::Open(const std::string& version, const Principal& principal,
                           const std::string& client) const {
  return ids_.Issue({.protocol_version = version,
                     .principal = principal.name,
                     .id = RandomHex128(),
                     .client = client});
}

std::optional<SessionInfo> Sessions::Find(const std::string& id, const Principal& principal) const {
  std::optional<SessionInfo> session = ids_.Verify(id);
  if (!session.has_value() || session->principal != principal.name) return std::nullopt;
  const auto state = states_.find(id);
  if (state != states_.end() && state->second.ended) return std::nullopt;
  return session;
}

Sessions::State& Sessions::Lasting(const std::string& id) {
  State& state = states_[id];
  if (state.lasting()) return state;
  lasting_.push_back(id);
  if (lasting_.size() <= kMaxLasting) return state;
  const auto oldest = states_.find(lasting_.front());
  lasting_.pop_front();
  if (oldest != states_.end()) {
    oldest->second.log_level = std::nullopt;
    oldest->second.ended = false;
    if (oldest->second.under_way.empty()) states_.erase(oldest);
  }
  return states_[id];
}

void Sessions::End(const std::string& id) {
  State& state = Lasting(id);
  state.ended = true;
  // Each request removes itself from the map once its coroutine runs.
  for (const auto& [request, exchange] : state.under_way) exchange->Cancel();
}

void Sessions::SetLogLevel(const std::string& id, int level) { Lasting(id).log_level = level; }

std::optional<int> Sessions::LogLevel(const std::string& id) const {
  const auto state = states_.find(id);
  return state == states_.end() ? std::nullopt : state->second.log_level;
}

Sessions::UnderWay::UnderWay(Sessions* sessions, Exchange* exchange)
    : sessions_(sessions),
      session_(exchange->origin().session_id),
      request_(Dump(exchange->message().id)) {
  unique_ = sessions_->states_[session_].under_way.emplace(request_, exchange).second;
}

Sessions::UnderWay::~UnderWay() {
  if (!unique_) return;
  const auto state = sessions_->states_.find(session_);
  state->second.under_way.erase(request_);
  if (state->second.under_way.empty() && !state->second.lasting()) {
    sessions_->states_.erase(state);
  }
}

void Sessions::Cancel(const std::string& session, const Json& request_id) {
  const auto state = states_.find(session);
  if (state == states_.end()) return;
  const auto request = state->second.under_way.find(Dump(request_id));
  if (request != state->second.under_way.end()) request->second->Cancel();
}

void Sessions::Reply(const std::string& session, const Json& id, RpcOutcome outcome) {
  const auto state = states_.find(session);
  if (state == states_.end()) return;
  for (const auto& [request, exchange] : state->second.under_way) {
    if (exchange->Reply(id, outcome)) return;
  }
}

}  // namespace callslip::gateway
