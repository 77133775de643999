// Any bytes as requests: each is refused with a documented error or changes the table correctly,
// and no accepted command is left in the end.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/error_details.h"
#include "common/status_macros.h"
#include "fuzz/require.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/rpc/command_convert.h"
#include "tracker/server/request_limits.h"

namespace callslip::tracker {
namespace {

class NoReader final : public CommandFeed {
 public:
  void OnReady() override {}
};

// One table, with limits that a few inputs reach, on a clock that the input moves.
class Target {
 public:
  absl::Status Apply(uint8_t method, absl::string_view bytes) {
    switch (method % 9) {
      case 0: return Register(Parse<v1::RegisterCommandRequest>(bytes));
      case 1: return Lease(Parse<v1::LeaseCommandsRequest>(bytes));
      case 2: return Acknowledge(Parse<v1::AcknowledgeCommandRequest>(bytes));
      case 3: return Complete(Parse<v1::CompleteCommandRequest>(bytes));
      case 4: return List(Parse<v1::ListCommandsRequest>(bytes));
      case 5: return Watch(Parse<v1::CommandWatch>(bytes));
      case 6: return Expire(Parse<v1::ExpireCommandRequest>(bytes));
      case 7: return Replay(Parse<v1::ReplayCommandRequest>(bytes));
      default:
        now_ += absl::Milliseconds(100 * bytes.size());
        table_.FireDeadlines(now_);
        return absl::OkStatus();
    }
  }

  // Everything ends, and the table is empty.
  void Finish() {
    table_.Drain();
    now_ += absl::Hours(60);
    for (int i = 0; i < 4; ++i) {
      table_.FireDeadlines(now_);
      now_ += absl::Hours(1);
    }
    Require(table_.commands() == 0, "no command outlives its deadlines");
    Require(table_.payload_bytes() == 0, "bytes are accounted for");
    Require(table_.waits() == 0, "waits are accounted for");
    Require(table_.leased() == 0, "leases are accounted for");
    Require(table_.NextDeadlineTime() == absl::InfiniteFuture(), "no deadline is left over");
  }

 private:
  static CommandLimits Limits() {
    CommandLimits limits;
    limits.queued_of_client = 3;
    limits.queued = 5;
    limits.failed_of_client = 2;
    limits.commands_of_client = 8;
    limits.commands = 12;
    limits.payload_bytes_of_client = 256;
    limits.payload_bytes = 512;
    limits.waits_of_client = 3;
    limits.waits = 5;
    limits.filters_of_client = 2;
    limits.tombstones = 3;
    return limits;
  }

  template <typename Message>
  static Message Parse(absl::string_view bytes) {
    // Like the server: a message beyond the limits is never made.
    google::protobuf::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
    const absl::Status within = internal::RequestShape::Of(*Message::descriptor()).Check(input);
    Message message;
    if (!within.ok()) {
      Require(DetailsOf(within).reason == "invalid_argument", "a limit has its reason");
      return message;
    }
    (void)message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    return message;
  }

  // The id in the input, or that of an existing command if the input is its number.
  std::string IdFor(const std::string& text) const {
    if (text.size() != 1 || ids_.empty()) return text;
    return ids_[static_cast<uint8_t>(text[0]) % ids_.size()];
  }
  std::string TokenFor(const std::string& text) const {
    if (text.size() != 1 || tokens_.empty()) return text;
    return tokens_[static_cast<uint8_t>(text[0]) % tokens_.size()];
  }

  absl::Status Registered(const CommandRegistration& registration) {
    const CommandSpec& spec = *registration.command->spec;
    Require(!spec.type().empty() && spec.type().size() <= kMaxTypeBytes, "types are bounded");
    Require(spec.client_id().size() <= kMaxNameBytes && !spec.client_id().empty(),
            "names are bounded");
    Require(spec.params != nullptr && spec.params->size() <= kMaxParamsBytes, "params are bounded");
    Require(spec.deadlines->start_to_close <= kMaxStartToClose, "clocks are bounded");
    Require(spec.not_before <= now_ + kMaxDelay, "delays are bounded");
    if (!registration.existed) ids_.push_back(spec.id.ToString());
    Require(CommandId::Parse(spec.id.ToString()) == spec.id, "ids are read as they are written");
    return absl::OkStatus();
  }

  absl::Status Register(const v1::RegisterCommandRequest& message) {
    CallContext caller = LocalCall();
    caller.client_id = message.client_id();
    ASSIGN_OR_RETURN(CommandRequest request, RequestFrom(caller, message));
    ASSIGN_OR_RETURN(const CommandRegistration made, table_.Register(std::move(request), now_));
    return Registered(made);
  }

  absl::Status Replay(const v1::ReplayCommandRequest& message) {
    ASSIGN_OR_RETURN(const CommandRegistration made,
                     table_.Replay(message.client_id(), IdFor(message.command_id()),
                                   message.request_id(), now_));
    return Registered(made);
  }

  absl::Status Lease(const v1::LeaseCommandsRequest& message) {
    ASSIGN_OR_RETURN(const absl::Time until,
                     WaitUntil(message.max_wait(), kMaxPollWait, absl::ZeroDuration(), now_));
    return table_
        .Lease({.target = message.target(),
                .worker_id = message.worker_id(),
                .max_commands = message.max_commands(),
                .hold_until = until},
               now_,
               [this](const WorkerNews& news) {
                 for (const CommandLease& lease : news.leases) {
                   tokens_.push_back(lease.token.ToString());
                   Require(lease.start_to_close > absl::ZeroDuration(), "leases have time");
                 }
               })
        .status();
  }

  absl::Status Acknowledge(const v1::AcknowledgeCommandRequest& message) {
    return table_
        .Acknowledge(IdFor(message.command_id()),
                     ProofFrom(TokenFor(message.lease_token()), message.attempt()),
                     ProgressFrom(message), ContextFrom(message.context()), now_)
        .status();
  }

  absl::Status Complete(const v1::CompleteCommandRequest& message) {
    ASSIGN_OR_RETURN(CommandOutcome outcome, OutcomeFrom(message));
    return table_
        .Complete(IdFor(message.command_id()),
                  ProofFrom(TokenFor(message.lease_token()), message.attempt()), std::move(outcome),
                  ContextFrom(message.context()), now_)
        .status();
  }

  absl::Status List(const v1::ListCommandsRequest& message) {
    ASSIGN_OR_RETURN(const CommandFilter filter, FilterFrom(message));
    ASSIGN_OR_RETURN(
        const CommandPage page,
        table_.List(message.client_id(), filter, message.page_size(), message.page_token()));
    Require(page.commands.size() <= static_cast<size_t>(kMaxPageSize), "pages are bounded");
    for (const CommandPtr& command : page.commands) {
      Require(filter.Matches(*command), "lists hold what they are asked for");
    }
    return absl::OkStatus();
  }

  absl::Status Watch(const v1::CommandWatch& message) {
    if (message.has_filter()) {
      ASSIGN_OR_RETURN(CommandFilter filter, FilterFrom(message.filter()));
      return table_
          .WatchAll({.clients = message.client_id(), .filter = std::move(filter), .feed = feed_})
          .status();
    }
    ASSIGN_OR_RETURN(const absl::Time until,
                     WaitUntil(message.max_wait(), kMaxWait, kMaxWait, now_));
    return table_
        .Watch(IdFor(message.command_id()), {.clients = message.client_id(),
                                             .after_revision = message.after_revision(),
                                             .until = until,
                                             .feed = feed_,
                                             .watch_id = message.watch_id(),
                                             .only_end = message.only_end()})
        .status();
  }

  absl::Status Expire(const v1::ExpireCommandRequest& message) {
    return table_
        .Expire(message.client_id(), IdFor(message.command_id()), ErrorFrom(message.error()), now_)
        .status();
  }

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  const std::shared_ptr<NoReader> feed_ = std::make_shared<NoReader>();
  CommandTable table_{CommandDeadlines(), Limits()};
  std::vector<std::string> ids_;
  std::vector<std::string> tokens_;
};

void RequireDocumented(const absl::Status& status) {
  if (status.ok()) return;
  static const auto& reasons = *new absl::flat_hash_set<std::string>{
      "invalid_argument", "invalid_page_token", "result_too_large",  "unknown_command",
      "command_removed",  "already_ended",      "not_a_dead_letter", "wrong_lease",
      "queue_full",       "request_id_reused",  "too_many_commands", "too_many_bytes",
      "too_many_waits"};
  const ErrorDetails details = DetailsOf(status);
  Require(reasons.contains(details.reason), "reasons are documented");
  Require(!details.hint.empty() && !status.message().empty(), "errors say what to do");
}

}  // namespace
}  // namespace callslip::tracker

// The input is a list of requests: a byte for the method, one for the length, and the message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Inputs that are not messages are valid, and not worth a log line each.
  [[maybe_unused]] static auto* const silenced = google::protobuf::SetLogHandler(nullptr);
  callslip::tracker::Target target;
  absl::string_view rest(reinterpret_cast<const char*>(data), size);
  while (rest.size() >= 2) {
    const auto method = static_cast<uint8_t>(rest[0]);
    const size_t length = std::min<size_t>(static_cast<uint8_t>(rest[1]), rest.size() - 2);
    callslip::tracker::RequireDocumented(target.Apply(method, rest.substr(2, length)));
    rest.remove_prefix(2 + length);
  }
  target.Finish();
  return 0;
}
