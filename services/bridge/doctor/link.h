#pragma once

#include <string>

namespace callslip::bridge {

// The state of one link between an agent and a page, or of the link to the agents of sessions.
struct Link {
  enum class State {
    kOk,
    kBroken,
    kUnknown,  // No component on the way reports it.
    kNone,     // There is none, and none is required.
  };

  std::string name;  // See docs/bridge.md.
  State state = State::kUnknown;
  std::string detail;  // The finding.
  std::string hint;    // What to do next; empty if there is nothing to do.
};

}  // namespace callslip::bridge
