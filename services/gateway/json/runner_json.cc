#include "gateway/json/runner_json.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "gateway/json/command_json.h"

namespace callslip::gateway {
namespace {

Json OfferJson(const v1::AgentOffer& agent) {
  Json json = {{"name", agent.name()}};
  if (!agent.title().empty()) json["title"] = agent.title();
  if (!agent.problem().empty()) json["problem"] = agent.problem();
  return json;
}

Json WorkspaceJson(const v1::Workspace& workspace) {
  Json json = {{"name", workspace.name()}, {"dir", workspace.dir()}};
  if (!workspace.agents().empty()) json["agents"] = workspace.agents();
  return json;
}

Json RunnerJson(const v1::Runner& runner) {
  Json json = {{"runner_id", runner.runner_id()},
               {"version", runner.version()},
               {"max_agents", runner.max_agents()},
               {"running_agents", runner.running_agents()},
               {"waiting_agents", runner.waiting_agents()},
               {"sessions", runner.sessions()},
               {"connected", runner.connected()},
               {"started_at", WireTime(runner.start_time())},
               {"agents", Json::array()},
               {"workspaces", Json::array()}};
  for (const v1::AgentOffer& agent : runner.agents()) json["agents"].push_back(OfferJson(agent));
  for (const v1::Workspace& each : runner.workspaces()) {
    json["workspaces"].push_back(WorkspaceJson(each));
  }
  return json;
}

// The values of a map, in the order of its keys.
template <typename Key>
Json ListOf(const std::map<Key, Json>& values) {
  Json list = Json::array();
  for (const auto& [key, value] : values) list.push_back(value);
  return list;
}

}  // namespace

Json RunnersJson(const v1::ListRunnersResponse& listed) {
  Json runners = Json::array();
  for (const v1::Runner& runner : listed.runners()) runners.push_back(RunnerJson(runner));
  return {{"runners", std::move(runners)}};
}

Json AgentsJson(const v1::ListRunnersResponse& listed) {
  std::map<std::string, Json> agents;
  for (const v1::Runner& runner : listed.runners()) {
    if (!runner.connected()) continue;
    for (const v1::AgentOffer& offer : runner.agents()) {
      const auto [agent, is_new] = agents.try_emplace(offer.name(), OfferJson(offer));
      Json& json = agent->second;
      if (offer.problem().empty()) json.erase("problem");
      if (!offer.title().empty() && !json.contains("title")) json["title"] = offer.title();
      json["runner_ids"].push_back(runner.runner_id());
    }
  }
  return {{"agents", ListOf(agents)}};
}

Json WorkspacesJson(const v1::ListRunnersResponse& listed) {
  std::map<std::pair<std::string, std::string>, Json> workspaces;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> agents;
  for (const v1::Runner& runner : listed.runners()) {
    if (!runner.connected()) continue;
    for (const v1::Workspace& each : runner.workspaces()) {
      const std::pair<std::string, std::string> key(each.name(), each.dir());
      Json& json = workspaces[key];
      json["name"] = each.name();
      json["dir"] = each.dir();
      json["runner_ids"].push_back(runner.runner_id());
      std::set<std::string>& allowed = agents[key];
      allowed.insert(each.agents().begin(), each.agents().end());
      if (!each.agents().empty()) continue;
      for (const v1::AgentOffer& agent : runner.agents()) allowed.insert(agent.name());
    }
  }
  for (auto& [key, json] : workspaces) json["agents"] = agents[key];
  return {{"workspaces", ListOf(workspaces)}};
}

}  // namespace callslip::gateway
