#pragma once

namespace callslip {

// What a failed call may have executed.
enum class Executed {
  kNo,       // Certainly nothing.
  kPerhaps,  // Perhaps what it submitted: no reliable answer arrived.
  kAsked,    // Nothing, but the call was about a command that may have been executed.
};

// What every failed call reports to agents; the gateway and the bridge share the rule.
struct CallVerdict {
  bool final;              // Repeating the call gives the same result.
  bool may_have_executed;  // False only if certainly nothing was executed.
  const char* sentence;    // The error's second sentence, for people and models.
};

// `repeatable`: repeating the call, later or over another connection, can give a different answer.
// A call that may have executed something is never final: its outcome can still be looked up.
inline CallVerdict VerdictOf(Executed executed, bool repeatable) {
  switch (executed) {
    case Executed::kNo: return {!repeatable, false, "Nothing was executed."};
    case Executed::kAsked: return {!repeatable, true, "This says nothing of what the command did."};
    case Executed::kPerhaps: break;
  }
  return {false, true, "It may have been executed."};
}

}  // namespace callslip
