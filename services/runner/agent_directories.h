#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/config.h"

namespace callslip::runner {

// The directories of all workspaces and the additional ones. Agents can write there and replace
// anything with a link, so names inside them are not trusted: only links outside of all of them are
// followed.
class AgentDirectories {
 public:
  explicit AgentDirectories(const RunnerConfig& config);

  // How a directory is opened: beneath each of the returned directories that contain it, from the
  // outermost. With `by_each`, also beneath each directory on the rest of the path.
  std::vector<std::string> WayTo(const std::string& directory, bool by_each = false) const;

  // Whether agents can replace the directory or a component of its path.
  bool MayReplace(const std::string& directory) const;

  // Why a configured directory cannot be opened safely, and what to do about it; empty if it can. A
  // missing directory is not a problem.
  std::string ProblemOf(const std::string& directory) const;

 private:
  struct Place {
    std::string path;      // The configured path.
    std::string followed;  // Where `path` leads, as far as no agent can influence it.
  };
  // Whether a place is considered.
  using Counts = std::function<bool(const Place&)>;

  // The places that contain a path, the outer ones first.
  std::vector<const Place*> PlacesOf(const std::string& path, const Counts& counts) const;
  // Follows the links of a path until it is in a place that `counts`; leaves the rest as written.
  std::string Follow(const std::string& path, const Counts& counts) const;

  std::vector<Place> places_;  // Each path once, the outer ones first.
  // By both normalized paths of each place.
  std::unordered_map<std::string, std::vector<size_t>> index_;
};

}  // namespace callslip::runner
