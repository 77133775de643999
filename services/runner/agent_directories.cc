#include "runner/agent_directories.h"

#include <deque>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/directories.h"

namespace callslip::runner {
namespace {

// As the kernel has it.
constexpr int kMostLinks = 40;

bool IsInAny(const std::string& path, const std::vector<std::string>& directories) {
  return absl::c_any_of(directories,
                        [&](const std::string& directory) { return IsInside(path, directory); });
}

// Agents in a directory can't replace that itself.
bool IsBelow(const std::string& path, const std::string& directory) {
  return IsInside(path, directory) && !IsInside(directory, path);
}

std::string Below(const std::string& directory, absl::string_view name) {
  return absl::StrCat(directory == "/" ? "" : directory, "/", name);
}

}  // namespace

AgentDirectories::AgentDirectories(const RunnerConfig& config) {
  std::set<std::string> paths;
  for (const auto& [name, workspace] : config.workspaces) {
    paths.insert(workspace.dir);
    paths.insert(workspace.additional_directories.begin(), workspace.additional_directories.end());
  }
  std::erase_if(paths, [](const std::string& path) { return !IsInside(path, "/"); });
  for (const std::string& path : paths) {
    std::vector<std::string> others;
    for (const std::string& other : paths) {
      if (!IsInside(other, path)) others.push_back(other);
    }
    places_.push_back({path, Follow(path, others)});
  }
  absl::c_stable_sort(
      places_, [](const Place& a, const Place& b) { return DepthOf(a.path) < DepthOf(b.path); });
  for (const Place& place : places_) {
    all_.push_back(place.path);
    all_.push_back(place.followed);
  }
}

std::string AgentDirectories::Follow(const std::string& path,
                                     const std::vector<std::string>& until) {
  std::deque<std::string> rest = absl::StrSplit(path, '/', absl::SkipEmpty());
  std::string at = "/";
  for (int links = 0; !rest.empty() && !IsInAny(at, until);) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      at = std::filesystem::path(at).parent_path().string();
      continue;
    }
    std::error_code is_no_link;
    const std::string target = std::filesystem::read_symlink(Below(at, name), is_no_link).string();
    if (is_no_link || ++links > kMostLinks) {
      at = Below(at, name);
      continue;
    }
    if (absl::StartsWith(target, "/")) at = "/";
    const std::vector<std::string> parts = absl::StrSplit(target, '/', absl::SkipEmpty());
    rest.insert(rest.begin(), parts.begin(), parts.end());
  }
  for (const std::string& name : rest) at = Below(at, name);
  return at;
}

std::vector<std::string> AgentDirectories::WayTo(const std::string& directory, bool by_each) const {
  std::vector<std::string> way;
  for (const Place& place : places_) {
    if (IsInside(directory, place.path)) way.push_back(place.path);
  }
  if (by_each && !way.empty()) {
    const std::string innermost = way.back();
    for (size_t at = 0; (at = directory.find('/', at + 1)) != std::string::npos;) {
      std::string above = directory.substr(0, at);
      if (IsInside(above, innermost)) way.push_back(std::move(above));
    }
  }
  if (way.empty() || way.back() != directory) way.push_back(directory);
  return way;
}

bool AgentDirectories::MayReplace(const std::string& directory) const {
  // What is relative, or has `..` in it, is anywhere.
  return !IsInside(directory, "/") || IsInAny(Follow(directory, all_), all_);
}

std::string AgentDirectories::ProblemOf(const std::string& directory) const {
  std::vector<std::string> others;
  for (const Place& place : places_) {
    if (IsInside(place.path, directory)) continue;
    others.insert(others.end(), {place.path, place.followed});
  }
  const std::string followed = Follow(directory, others);
  for (const Place& place : places_) {
    if (IsInside(directory, place.path) || IsInside(place.path, directory)) continue;
    if (!IsBelow(followed, place.path) && !IsBelow(followed, place.followed)) continue;
    return absl::StrCat(directory, " is in ", place.path,
                        " by a link, where agents could replace it: write ", place.path,
                        " and the way from there");
  }
  std::error_code error;
  const std::string real = std::filesystem::canonical(directory, error).string();
  if (error) return "";
  for (const Place& place : places_) {
    if (place.path == directory || !IsInside(directory, place.path)) continue;
    const std::string real_place = std::filesystem::canonical(place.path, error).string();
    if (error || IsInside(real, real_place)) continue;
    return absl::StrCat(directory, " leads out of ", place.path,
                        " by a link, which an agent may have put there: write ", real,
                        " if that is meant");
  }
  return "";
}

}  // namespace callslip::runner
