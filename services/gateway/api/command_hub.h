#pragma once

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

// The changes of some commands since an observer last read them: the newest row of each, so that a
// slow reader costs only one row for each command. Its destructor unsubscribes it.
class CommandObserver {
 public:
  struct Watched;  // Private to command_hub.cc.

  // A batch of changes. `lost`: earlier ones may have been missed; list the commands.
  struct Changes {
    // JSON, as written by CommandRow(); with "removed" if the tracker has forgotten the command.
    std::vector<std::shared_ptr<const std::string>> rows;
    bool lost = false;
  };

  CommandObserver(std::shared_ptr<CommandHub> hub, std::shared_ptr<Watched> watched);
  CommandObserver(const CommandObserver&) = delete;
  ~CommandObserver();

  // Waits for changes and returns up to CommandHub::kMaxRows of them, in the order in which they
  // first changed. One call at a time. An error is final: an error of the tracker, or UNAVAILABLE,
  // reason `draining`.
  boost::asio::awaitable<absl::StatusOr<Changes>> Next();

 private:
  friend class CommandHub;

  void Take(const std::string& id, std::shared_ptr<const std::string> row);
  void Lose();

  const std::shared_ptr<CommandHub> hub_;
  const std::shared_ptr<Watched> watched_;
  std::vector<std::string> order_;  // The ids in rows_, in the order of their first change.
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>> rows_;
  ByteBudget::Place place_;  // The memory budget of these rows.
  size_t bytes_ = 0;
  size_t taken_bytes_ = 0;  // Bytes of the rows from the last Next(), counted until the next.
  bool lost_ = false;
  boost::asio::steady_timer news_;  // Cancelled to wake the reader.
};

// Watches commands for any number of observers: one feed of the tracker serves all observers of the
// same commands on behalf of the same client. Reopens a feed that breaks, and notifies the
// observers that they may have missed changes.
//
// Create it with std::make_shared, since its observers hold it. Used on the executor.
class CommandHub : public std::enable_shared_from_this<CommandHub> {
 public:
  // The most rows that one Next() returns.
  static constexpr size_t kMaxRows = 500;
  // The most rows queued for an observer. Beyond that, or if the memory budget shared with other
  // observers is exhausted, all of them are dropped, and the observer is notified.
  static constexpr size_t kMaxWaiting = 10'000;

  struct Which {
    std::string client_id;
    std::string owner;  // See ListCommandsRequest.
    std::string target;
    std::string label;

    auto operator<=>(const Which&) const = default;
  };

  // `tracker` must live as long as the executor runs. Queued rows count against `waiting`, in the
  // client's share.
  CommandHub(boost::asio::any_io_executor executor, TrackerClient* tracker,
             std::shared_ptr<ByteBudget> waiting)
      : executor_(std::move(executor)), tracker_(tracker), waiting_(std::move(waiting)) {}

  // Follows the commands: the existing ones, if this is their first observer and they are not too
  // many, and each change from now on. A caller that lists the commands after this, and again after
  // `lost`, misses nothing.
  std::unique_ptr<CommandObserver> Join(const Which& which);

  // Ends all observers, and later ones immediately.
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
