#ifndef CALLSLIP_RUNNER_AGENT_DIRECTORIES_H_
#define CALLSLIP_RUNNER_AGENT_DIRECTORIES_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/config.h"

namespace callslip::runner {

// The directories of all workspaces and the additional ones. Agents may write there, and put a link
// in the place of what is there. So nothing that is in one of them is taken for what it is called:
// only links that are outside of all of them are followed.
class AgentDirectories {
 public:
  explicit AgentDirectories(const RunnerConfig& config);

  // How a directory is opened: beneath each of these that it is in, from the outermost. With
  // `by_each`, beneath each directory on the rest of the way, too.
  std::vector<std::string> WayTo(const std::string& directory, bool by_each = false) const;

  // Whether agents may replace it, or something on the way to it.
  bool MayReplace(const std::string& directory) const;

  // What keeps a directory of the configuration from being opened safely, and what to do about it;
  // empty: nothing. One that is not there is fine.
  std::string ProblemOf(const std::string& directory) const;

 private:
  struct Place {
    std::string path;      // As configured,
    std::string followed;  // and where that leads, as far as no agent has a say in it.
  };
  // Whether a place counts.
  using Counts = std::function<bool(const Place&)>;

  // Those that a path is in, the outer ones first.
  std::vector<const Place*> PlacesOf(const std::string& path, const Counts& counts) const;
  // Follows the links of a path until it is in a place that counts; the rest stays as it is
  // written.
  std::string Follow(const std::string& path, const Counts& counts) const;

  std::vector<Place> places_;  // Each once, the outer ones first.
  // By both paths of each, without what may be written in several ways.
  std::unordered_map<std::string, std::vector<size_t>> index_;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_DIRECTORIES_H_
