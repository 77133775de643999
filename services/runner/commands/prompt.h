#ifndef CALLSLIP_RUNNER_COMMANDS_PROMPT_H_
#define CALLSLIP_RUNNER_COMMANDS_PROMPT_H_

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/posix/stream_descriptor.hpp"
#include "rpc_client/tracker_calls.h"

namespace callslip::runner {

// `callslip-runner prompt TEXT`: one message to an agent, in a session of its own. What the agent
// says goes to `out`, all else to `err`: the tools that it uses, what it asks, one question after
// the other, each answered with a line of `input`, and how it ended. Where `input` has ended and
// the agent asks, its turn is stopped. Lives on the context's thread.
class Prompt : public std::enable_shared_from_this<Prompt> {
 public:
  struct Question {
    std::string session_id;  // Of the session that is made for it, and ended after it.
    std::string agent;
    std::string directory;
    std::string text;
  };
  // What the program exits with: 0 where the turn was completed, 1 where it failed, did not begin,
  // or nobody could answer, 130 where it was stopped.
  using Done = std::function<void(int)>;

  // `input` is a descriptor, which is not closed.
  Prompt(boost::asio::io_context& context, TrackerCalls* tracker, std::FILE* out, std::FILE* err,
         int input)
      : context_(context), tracker_(tracker), out_(out), err_(err), input_(context, input) {}
  ~Prompt();

  void Start(Question question, Done done);
  // By what lease the runner has the session: what another one has is not ended.
  void Given(int64_t lease) { lease_ = lease; }
  // Asks the agent to end its turn.
  void Stop();

 private:
  boost::asio::awaitable<int> Run(Question question);
  boost::asio::awaitable<int> AskAgent(std::string text);
  boost::asio::awaitable<int> Follow();
  // An exit code, or -1 to go on.
  int Take(const v1::SessionUpdate& update);
  void Show(const v1::SessionEvent& event);
  int ShowAgent(const v1::AgentState& agent);
  // Once its turn comes.
  void Ask(const v1::Permission& permission);
  // Somebody else has answered it, or the agent wants no answer any more.
  void Drop(const v1::Permission& permission);
  bool IsAsked(const std::string& permission_id) const;
  // The questions that wait, one after the other.
  boost::asio::awaitable<void> AnswerAll();
  boost::asio::awaitable<void> Answer(v1::Permission permission);
  // The next line of the input; nothing where it has ended, or the question is over.
  boost::asio::awaitable<std::optional<std::string>> ReadLine();
  void StopTurn();
  // On a line of its own.
  void Say(const std::string& line);

  boost::asio::io_context& context_;
  TrackerCalls* const tracker_;
  std::FILE* const out_;
  std::FILE* const err_;
  boost::asio::posix::stream_descriptor input_;
  std::string read_;
  bool skips_line_ = false;  // What is left of one that was too long.
  std::string session_id_;
  std::string status_;
  bool in_line_ = false;
  std::deque<v1::Permission> questions_;  // The first one is asked.
  bool answers_ = false;                  // AnswerAll() is under way.
  bool is_answering_ = false;             // The first one: the tracker is told.
  bool input_ended_ = false;
  bool in_turn_ = false;
  bool is_given_ = false;  // The session, to the runner.
  bool stopped_ = false;
  int64_t lease_ = 0;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_COMMANDS_PROMPT_H_
