// An agent's stdout. On any input, in any pieces: each request is answered once, each request to
// the agent is answered once, and the reports to the listener do not depend on the pieces.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/require.h"
#include "runner/acp/messages_v1.h"
#include "runner/acp/peer.h"

namespace callslip::runner {
namespace {

constexpr int kAsked = 3;

// Parses any value as each of the protocol's messages.
void ReadAsAnything(const Json& json) {
  (void)acp::ParseCapabilities(json);
  (void)acp::ParsePromptEnd(json);
  (void)acp::ParsePermission(json);
  (void)acp::ParseUpdate(MemberOf(json, "update"));
}

// A conversation, in which the agent writes `bytes` in pieces of `piece` bytes.
class Conversation final : public Peer::Listener {
 public:
  Conversation(absl::string_view bytes, size_t piece)
      : peer_(this, [this](std::string line) { Write(std::move(line)); }) {
    for (int i = 0; i < kAsked; ++i) {
      peer_.Request("session/prompt", Json::object(), [this, i](RpcAnswer answer) {
        Require(!asked_[i], "one answer to what was asked");
        asked_[i] = true;
        if (const Json* result = std::get_if<Json>(&answer)) ReadAsAnything(*result);
        Note(absl::StrCat("answer ", i, " ", answer.index()));
      });
    }
    bool fed = true;
    for (size_t at = 0; at < bytes.size() && fed; at += piece) {
      fed = peer_.Feed(bytes.substr(at, piece));
    }
    Require(fed, "lines within their limit");
    // Late and repeated answers.
    for (const Peer::Respond& respond : late_) {
      respond(Json::object());
      respond(RpcError{.message = "again"});
    }
    Require(answered_ == requests_, "an answer to each request");
    peer_.Close({.message = "over"});
    for (const bool asked : asked_) Require(asked, "an end of what was asked");
    late_.clear();
  }

  const std::vector<std::string>& told() const { return told_; }

  void OnRequest(const Json& id, const std::string& method, const Json& params,
                 Peer::Respond respond) override {
    ++requests_;
    ReadAsAnything(params);
    Note(absl::StrCat("request ", Dump(id), " ", method));
    if (requests_ % 2 == 0) {
      respond(RpcError{.code = kMethodNotFound, .message = method});
    } else {
      late_.push_back(std::move(respond));
    }
  }
  void OnNotification(const std::string& method, const Json& params) override {
    ReadAsAnything(params);
    Note(absl::StrCat("notification ", method, " ", Dump(params)));
  }
  void OnNoise(absl::string_view line) override { Note(absl::StrCat("noise ", line)); }

 private:
  void Write(std::string line) {
    Require(!line.empty() && line.find('\n') == line.size() - 1, "one line");
    const Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    Require(message.is_object(), "JSON in UTF-8");
    // A request with only a readable id is answered without the listener.
    const bool is_unread = message.contains("error") && message["error"]["code"] == kParseError;
    if (!message.contains("method") && !is_unread) ++answered_;
  }
  void Note(std::string what) { told_.push_back(std::move(what)); }

  Peer peer_;
  bool asked_[kAsked] = {};
  int requests_ = 0;
  int answered_ = 0;
  std::vector<Peer::Respond> late_;
  std::vector<std::string> told_;
};

}  // namespace
}  // namespace callslip::runner

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace callslip::runner;
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Conversation at_once(bytes, std::max<size_t>(bytes.size(), 1));
  const Conversation in_pieces(bytes, size_t{1} + data[0]);
  callslip::Require(at_once.told() == in_pieces.told(), "the same, in whatever pieces it comes");
  return 0;
}
