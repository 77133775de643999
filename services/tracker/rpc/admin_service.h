#pragma once

#include "callslip/tracker/v1/admin_service.pb.h"
#include "common/clock.h"
#include "tracker/metrics/tracker_statistics.h"
#include "tracker/server/async_server.h"

namespace callslip::tracker {

// AdminService over the tracker's statistics and their history. Must outlive the server that it
// serves on.
class AdminService {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.AdminService";

  AdminService(Clock* clock, TrackerStatisticsSource* source) : clock_(clock), source_(source) {}

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

 private:
  Clock* const clock_;
  TrackerStatisticsSource* const source_;
};

}  // namespace callslip::tracker
