#ifndef CALLSLIP_GATEWAY_EXTENSION_BROWSER_LOG_H_
#define CALLSLIP_GATEWAY_EXTENSION_BROWSER_LOG_H_

#include <string>
#include <vector>

#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// A path to which extensions post what they have seen besides commands.
struct BrowserLogPath {
  const char* path;
  const char* kind;    // What the tracker keeps it as.
  const char* member;  // The array in the body that holds the entries; empty: the body is one.
};
const std::vector<BrowserLogPath>& BrowserLogPaths();

// What a browser has seen.
struct BrowserLogEntry {
  std::string json;
  std::string place;  // The tab, as TabPlace() has it.
};

// A tab as the tracker knows it, `tab-12`, after the member `tab_id` or `tabId` of what tells of
// it; empty where there is none.
std::string TabPlace(const Json& told);

// What the tracker is to keep of an array of entries: the newest 1,000, without those that are too
// large, and without the values of what is named as secrets are, such as `cookie`, `access_token`
// or `X-Auth-Token`: members, headers in lists of {name, value} or [name, value], and parameters of
// addresses. Text is not looked into, bodies of requests among it. Empty where `entries` is no
// array.
std::vector<BrowserLogEntry> LogEntries(const Json& entries);

// Adds the entries of one kind to what the tracker is given.
void AddEntries(std::vector<BrowserLogEntry> entries, v1::AppendWorkerLogRequest& append);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_EXTENSION_BROWSER_LOG_H_
