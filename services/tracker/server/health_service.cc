#include "tracker/server/health_service.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace callslip::tracker {
namespace {

absl::Status Stopping() { return absl::UnavailableError("the server stops; try again"); }

}  // namespace

HealthService::HealthService(const std::vector<std::string>& services)
    : services_([&services] {
        absl::flat_hash_set<std::string> known(services.begin(), services.end());
        known.insert("");
        return known;
      }()) {}

void HealthService::ServeOn(AsyncServer& server) {
  server.ServeUnary<Request, Response>(
      {kName, "Check"},
      [this](const CallContext&, const Request& request, Response& response) {
        return Check(request, response);
      },
      Outputs::kFree);
  server.ServeStream<Request, Response>(
      {kName, "Watch"},
      [this](const CallContext&, const Request& request,
             const std::shared_ptr<WatchStream>& stream) { Watch(request, stream); },
      Outputs::kFree);
}

void HealthService::SetServing(bool serving) {
  serving_ = serving;
  for (const auto& stream : Watches()) stream->Wake();
}

void HealthService::EndWatches() {
  decltype(watches_) watches;
  {
    MutexLock lock(&mutex_);
    ending_ = true;
    watches.swap(watches_);
  }
  for (const auto& [id, stream] : watches) stream->Finish(Stopping());
}

absl::Status HealthService::Check(const Request& request, Response& response) const {
  if (!services_.contains(request.service())) {
    return absl::NotFoundError(absl::StrCat("no service \"", request.service(), "\" here"));
  }
  response.set_status(StatusOf(true));
  return absl::OkStatus();
}

void HealthService::Watch(const Request& request, const std::shared_ptr<WatchStream>& stream) {
  stream->SetSource([this, known = services_.contains(request.service()),
                     last = Response::UNKNOWN]() mutable -> std::optional<Outgoing<Response>> {
    const Response::ServingStatus status = StatusOf(known);
    if (status == last) return std::nullopt;
    last = status;
    Outgoing<Response> next;
    next.message.set_status(status);
    return next;
  });
  const int64_t id = next_id_++;
  if (const absl::Status added = Add(id, stream); !added.ok()) {
    stream->Finish(added);
    return;
  }
  stream->Wake();
  // Adding comes first: this call removes it at once if the caller has left.
  stream->OnCallerLeft([this, id] { Remove(id); });
}

absl::Status HealthService::Add(int64_t id, const std::shared_ptr<WatchStream>& stream) {
  MutexLock lock(&mutex_);
  if (ending_) return Stopping();
  if (watches_.size() >= kMaxWatches) {
    return absl::ResourceExhaustedError("too many watches of the server's health");
  }
  watches_.emplace(id, stream);
  return absl::OkStatus();
}

void HealthService::Remove(int64_t id) {
  // Destroyed without the lock.
  std::shared_ptr<WatchStream> removed;
  MutexLock lock(&mutex_);
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  removed = std::move(found->second);
  watches_.erase(found);
}

HealthService::Response::ServingStatus HealthService::StatusOf(bool known) const {
  if (!known) return Response::SERVICE_UNKNOWN;
  return serving_ ? Response::SERVING : Response::NOT_SERVING;
}

std::vector<std::shared_ptr<HealthService::WatchStream>> HealthService::Watches() {
  std::vector<std::shared_ptr<WatchStream>> watches;
  MutexLock lock(&mutex_);
  watches.reserve(watches_.size());
  for (const auto& [id, stream] : watches_) watches.push_back(stream);
  return watches;
}

}  // namespace callslip::tracker
