#ifndef CALLSLIP_BRIDGE_DOCTOR_LINK_H_
#define CALLSLIP_BRIDGE_DOCTOR_LINK_H_

#include <string>

namespace callslip::bridge {

// How one link between an agent and a page stands, or to the agents that sessions have.
struct Link {
  enum class State {
    kOk,
    kBroken,
    kUnknown,  // Nothing on the way there tells.
    kNone,     // There is none, and need not be.
  };

  std::string name;  // bridge, gateway, port (where it is taken), tracker, extension, tab, runner
  State state = State::kUnknown;
  std::string detail;  // What was found.
  std::string hint;    // What to do next; empty where there is nothing to do.
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_DOCTOR_LINK_H_
