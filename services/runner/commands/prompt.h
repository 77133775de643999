#pragma once

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

// `callslip-runner prompt TEXT`: sends one message to an agent, in a session of its own. Writes the
// agent's answer to `out`, and everything else to `err`: the tools that it uses, its questions, one
// at a time, each answered with a line of `input`, and how the turn ended. If the agent asks after
// the end of `input`, its turn is stopped. Use on the context's thread.
class Prompt : public std::enable_shared_from_this<Prompt> {
 public:
  struct Question {
    std::string session_id;  // The session is created for the question and ended after it.
    std::string agent;
    std::string directory;
    std::string text;
  };
  // Receives the exit code of the program: 0 if the turn was completed; 1 if it failed, did not
  // begin, or could not be answered; 130 if it was stopped.
  using Done = std::function<void(int)>;

  // `input` is a descriptor; it is not closed.
  Prompt(boost::asio::io_context& context, TrackerCalls* tracker, std::FILE* out, std::FILE* err,
         int input)
      : context_(context), tracker_(tracker), out_(out), err_(err), input_(context, input) {}
  ~Prompt();

  void Start(Question question, Done done);
  // The lease by which the runner has the session; a session under another lease is not ended.
  void Given(int64_t lease) { lease_ = lease; }
  // Asks the agent to end its turn.
  void Stop();

 private:
  boost::asio::awaitable<int> Run(Question question);
  boost::asio::awaitable<int> AskAgent(std::string text);
  boost::asio::awaitable<int> Follow();
  // Returns an exit code, or -1 to continue.
  int Take(const v1::SessionUpdate& update);
  void Show(const v1::SessionEvent& event);
  int ShowAgent(const v1::AgentState& agent);
  // Queues a question.
  void Ask(const v1::Permission& permission);
  // The question was answered elsewhere, or the agent does not need the answer any more.
  void Drop(const v1::Permission& permission);
  bool IsAsked(const std::string& permission_id) const;
  // Answers the queued questions, one after the other.
  boost::asio::awaitable<void> AnswerAll();
  boost::asio::awaitable<void> Answer(v1::Permission permission);
  // Returns the next line of the input; nullopt if the input has ended or the question is over.
  boost::asio::awaitable<std::optional<std::string>> ReadLine();
  void StopTurn();
  // Prints on a new line.
  void Say(const std::string& line);

  boost::asio::io_context& context_;
  TrackerCalls* const tracker_;
  std::FILE* const out_;
  std::FILE* const err_;
  boost::asio::posix::stream_descriptor input_;
  std::string read_;
  bool skips_line_ = false;  // Skips the rest of a line that was too long.
  std::string session_id_;
  std::string status_;
  bool in_line_ = false;
  std::deque<v1::Permission> questions_;  // The first one is being asked.
  bool answers_ = false;                  // AnswerAll() is running.
  bool is_answering_ = false;             // The answer to the first one is being sent.
  bool input_ended_ = false;
  bool in_turn_ = false;
  bool is_given_ = false;  // The runner has the session.
  bool stopped_ = false;
  int64_t lease_ = 0;
};

}  // namespace callslip::runner
