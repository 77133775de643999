#include "runner/agent_directories.h"

#include <deque>
#include <filesystem>
#include <optional>
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

// The kernel's limit.
constexpr int kMaxLinks = 40;

std::string Below(const std::string& directory, absl::string_view name) {
  return absl::StrCat(directory == "/" ? "" : directory, "/", name);
}

// The normal form of an absolute path: all spellings of a path give the same result.
std::string Plain(const std::string& path) {
  const std::optional<std::string> way = RelativeTo(path, "/");
  return !way.has_value() || *way == "." ? "/" : absl::StrCat("/", *way);
}

}  // namespace

AgentDirectories::AgentDirectories(const RunnerConfig& config) {
  std::set<std::string> paths;
  for (const auto& [name, workspace] : config.workspaces) {
    paths.insert(workspace.dir);
    paths.insert(workspace.additional_directories.begin(), workspace.additional_directories.end());
  }
  for (const std::string& path : paths) {
    if (IsInside(path, "/")) places_.push_back({path, path});
  }
  absl::c_stable_sort(
      places_, [](const Place& a, const Place& b) { return DepthOf(a.path) < DepthOf(b.path); });
  for (size_t i = 0; i < places_.size(); ++i) index_[Plain(places_[i].path)].push_back(i);
  for (Place& place : places_) {
    place.followed =
        Follow(place.path, [&](const Place& other) { return !IsInside(other.path, place.path); });
  }
  for (size_t i = 0; i < places_.size(); ++i) {
    // A path that leads back through `..` inside another place is known by its configured path
    // only.
    if (!IsInside(places_[i].followed, "/")) places_[i].followed = places_[i].path;
    const std::string followed = Plain(places_[i].followed);
    if (followed != Plain(places_[i].path)) index_[followed].push_back(i);
  }
}

std::vector<const AgentDirectories::Place*> AgentDirectories::PlacesOf(const std::string& path,
                                                                       const Counts& counts) const {
  std::vector<const Place*> places;
  const std::string plain = Plain(path);
  const auto add_at = [&](const std::string& above) {
    const auto found = index_.find(above);
    if (found == index_.end()) return;
    for (const size_t each : found->second) {
      if (counts(places_[each])) places.push_back(&places_[each]);
    }
  };
  for (size_t end = 0; end != std::string::npos; end = plain.find('/', end + 1)) {
    add_at(end == 0 ? "/" : plain.substr(0, end));
  }
  if (plain != "/") add_at(plain);
  return places;
}

std::string AgentDirectories::Follow(const std::string& path, const Counts& counts) const {
  std::deque<std::string> rest = absl::StrSplit(path, '/', absl::SkipEmpty());
  std::string at = "/";
  for (int links = 0; !rest.empty() && PlacesOf(at, counts).empty();) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      at = std::filesystem::path(at).parent_path().string();
      continue;
    }
    std::error_code is_no_link;
    const std::string target = std::filesystem::read_symlink(Below(at, name), is_no_link).string();
    if (is_no_link || ++links > kMaxLinks) {
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
  for (const Place* place :
       PlacesOf(directory, [&](const Place& each) { return IsInside(directory, each.path); })) {
    way.push_back(place->path);
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
  const auto all = [](const Place&) { return true; };
  // A relative path, or one with `..`, can lead anywhere.
  return !IsInside(directory, "/") || !PlacesOf(Follow(directory, all), all).empty();
}

std::string AgentDirectories::ProblemOf(const std::string& directory) const {
  const std::string followed =
      Follow(directory, [&](const Place& place) { return !IsInside(place.path, directory); });
  // Agents in a directory cannot replace that directory itself.
  const auto leads_below = [&](const Place& place) {
    return !IsInside(directory, place.path) && !IsInside(place.path, directory) &&
           !IsInside(place.path, followed) && !IsInside(place.followed, followed);
  };
  if (const auto led = PlacesOf(followed, leads_below); !led.empty()) {
    return absl::StrCat(directory, " is in ", led.front()->path,
                        " by a link, where agents could replace it: write ", led.front()->path,
                        " and the way from there");
  }
  std::error_code error;
  const std::string real = std::filesystem::canonical(directory, error).string();
  if (error) return "";
  for (const Place* place : PlacesOf(directory, [&](const Place& each) {
         return each.path != directory && IsInside(directory, each.path);
       })) {
    const std::string real_place = std::filesystem::canonical(place->path, error).string();
    if (error || IsInside(real, real_place)) continue;
    return absl::StrCat(directory, " leads out of ", place->path,
                        " by a link, which an agent may have put there: write ", real,
                        " if that is meant");
  }
  return "";
}

}  // namespace callslip::runner
