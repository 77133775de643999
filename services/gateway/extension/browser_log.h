#pragma once

#include <string>
#include <vector>

#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// A path to which extensions post observations other than command results.
struct BrowserLogPath {
  const char* path;
  const char* kind;    // The kind of log entry in the tracker.
  const char* member;  // The body's array of entries; empty: the body is a single entry.
};
const std::vector<BrowserLogPath>& BrowserLogPaths();

// One entry of a browser's log.
struct BrowserLogEntry {
  std::string json;
  std::string place;  // The tab, in the format of TabPlace().
};

// The tracker's name of a tab, `tab-12`, from the member `tab_id` or `tabId` of `told`; empty if
// there is none.
std::string TabPlace(const Json& told);

// The entries that the tracker must keep: the newest 1,000, without those that are too large, and
// without the values of items with secret names such as `cookie`, `access_token` or `X-Auth-Token`:
// members, headers in lists of {name, value} or [name, value], and URL parameters. Text is not
// searched, including bodies of requests. Empty if `entries` is not an array.
std::vector<BrowserLogEntry> LogEntries(const Json& entries);

// Adds entries to the request to the tracker.
void AddEntries(std::vector<BrowserLogEntry> entries, v1::AppendWorkerLogRequest& append);

}  // namespace callslip::gateway
