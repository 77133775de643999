#ifndef CALLSLIP_GATEWAY_API_COMMAND_HUB_H_
#define CALLSLIP_GATEWAY_API_COMMAND_HUB_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/steady_timer.hpp"
#include "gateway/http/byte_budget.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

class CommandHub;

// What has changed of some commands since one who looks was told last: the newest row of each, so
// that whoever reads slowly costs a row for each command and no more. Leaves by its destruction.
class CommandObserver {
 public:
  struct Watched;  // Private to command_hub.cc.

  // What has changed. `lost`: some may have been missed before; list the commands.
  struct Changes {
    // JSON, as CommandRow() has it; with "removed" where the tracker has forgotten it.
    std::vector<std::shared_ptr<const std::string>> rows;
    bool lost = false;
  };

  CommandObserver(std::shared_ptr<CommandHub> hub, std::shared_ptr<Watched> watched);
  CommandObserver(const CommandObserver&) = delete;
  ~CommandObserver();

  // Once there are some, up to CommandHub::kMaxRows, those that changed first before others. One
  // call at a time. An error is the end: what the tracker refuses, or UNAVAILABLE, reason
  // `draining`.
  boost::asio::awaitable<absl::StatusOr<Changes>> Next();

 private:
  friend class CommandHub;

  void Take(const std::string& id, std::shared_ptr<const std::string> row);
  void Lose();

  const std::shared_ptr<CommandHub> hub_;
  const std::shared_ptr<Watched> watched_;
  std::vector<std::string> order_;  // Of those in rows_, as they changed first.
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>> rows_;
  ByteBudget::Place place_;  // For these.
  size_t bytes_ = 0;
  size_t taken_bytes_ = 0;  // Of these, those that it was told last, until it asks for more.
  bool lost_ = false;
  boost::asio::steady_timer news_;  // Cancelled for its reader to look again.
};

// Watches commands for any number of observers: one feed of the tracker for all that look at the
// same ones on behalf of the same client. A feed that breaks is opened anew, and the observers are
// told that they may have missed something.
//
// Made by std::make_shared, since its observers hold it. Used on the executor.
class CommandHub : public std::enable_shared_from_this<CommandHub> {
 public:
  // Rows that are told at once.
  static constexpr size_t kMaxRows = 500;
  // Rows that wait for an observer; beyond that, and where there is no room for them beside what
  // waits for others, all of them are dropped, and it is told so.
  static constexpr size_t kMaxWaiting = 10'000;

  struct Which {
    std::string client_id;
    std::string owner;  // See ListCommandsRequest.
    std::string target;
    std::string label;

    auto operator<=>(const Which&) const = default;
  };

  // `tracker` must live as long as the executor runs. What waits for observers counts among
  // `waiting`, on the account of the client.
  CommandHub(boost::asio::any_io_executor executor, TrackerClient* tracker,
             std::shared_ptr<ByteBudget> waiting)
      : executor_(std::move(executor)), tracker_(tracker), waiting_(std::move(waiting)) {}

  // Follows the commands: those that are there, where nobody looks at them yet and they are not too
  // many, and each change from now on. Who lists them after this, and where some were lost, misses
  // nothing.
  std::unique_ptr<CommandObserver> Join(const Which& which);

  // Ends all observers, and later ones at once.
  void End();

 private:
  friend class CommandObserver;
  using Watched = CommandObserver::Watched;

  static boost::asio::awaitable<void> Follow(std::shared_ptr<CommandHub> self,
                                             std::shared_ptr<Watched> watched);
  void Leave(CommandObserver* observer);

  const boost::asio::any_io_executor executor_;
  TrackerClient* const tracker_;
  const std::shared_ptr<ByteBudget> waiting_;
  std::map<Which, std::shared_ptr<Watched>> watched_;
  bool ended_ = false;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_API_COMMAND_HUB_H_
