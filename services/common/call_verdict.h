#ifndef CALLSLIP_COMMON_CALL_VERDICT_H_
#define CALLSLIP_COMMON_CALL_VERDICT_H_

namespace callslip {

// What a call that failed may have done.
enum class Executed {
  kNo,       // Nothing, for certain.
  kPerhaps,  // What it hands in: nobody was heard who knows.
  kAsked,    // Nothing, but it was about a command that may have been executed.
};

// What every failed call tells agents, by one rule in gateway and bridge.
struct CallVerdict {
  bool final;              // Making the call again tells nothing new.
  bool may_have_executed;  // False only where it is certain that nothing was executed.
  const char* sentence;    // The second one, for people and models.
};

// `repeatable`: the same call may be answered otherwise, later or over another connection. What may
// have been executed is never final: there is something left to look for.
inline CallVerdict VerdictOf(Executed executed, bool repeatable) {
  switch (executed) {
    case Executed::kNo:
      return {!repeatable, false, "Nothing was executed."};
    case Executed::kAsked:
      return {!repeatable, true, "This says nothing of what the command did."};
    case Executed::kPerhaps:
      break;
  }
  return {false, true, "It may have been executed."};
}

}  // namespace callslip

#endif  // CALLSLIP_COMMON_CALL_VERDICT_H_
