#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// A drawing that a person made on a page and finished; see the message of the same name in
// annotation.proto.
struct Drawing {
  std::string target;
  int64_t tab_id = 0;
  std::string url;
  std::string title;
  std::string session;                       // Empty: it belongs only to its tab.
  Payload content;                           // One JSON value, opaque here.
  ClientScope clients = ClientScope::All();  // Clients that can receive it.

  // Set when it is stored.
  uint64_t sequence = 0;
  absl::Time append_time = absl::InfinitePast();

  int64_t bytes() const {
    return static_cast<int64_t>(content->size() + url.size() + title.size() + session.size());
  }
};

// Constant once it is stored.
using DrawingPtr = std::shared_ptr<const Drawing>;

// Outcome of a submitted drawing.
struct AppendedDrawing {
  std::vector<std::string> completed;  // Ids of commands.
  bool stored = false;
};

// Selects drawings of a target; empty members select all.
struct AnnotationQuery {
  std::string client_id;  // The caller.
  std::string target;
  std::optional<int64_t> tab_id;
  std::string session;

  bool Matches(const Drawing& drawing) const {
    return drawing.clients.Covers(client_id) && target == drawing.target &&
           (!tab_id.has_value() || *tab_id == drawing.tab_id) &&
           (session.empty() || session == drawing.session);
  }
};

}  // namespace callslip::tracker
