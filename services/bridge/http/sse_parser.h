#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip::bridge {

// Splits a `text/event-stream` into the data of its events (WHATWG HTML, section 9.2). Event names,
// ids, retry times and comments are skipped: MCP uses only the data. An event that is not
// terminated by an empty line is never delivered. Not thread-safe.
class SseParser {
 public:
  enum class Result {
    kMore,      // All bytes were processed.
    kDone,      // `on_data` has returned false; the rest was dropped.
    kTooLarge,  // One event has more than `max_bytes`.
  };

  explicit SseParser(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Processes the next bytes and calls `on_data` for each event that they complete.
  Result Feed(absl::string_view bytes, const std::function<bool(absl::string_view)>& on_data);

 private:
  // Processes one line; returns false to stop.
  bool TakeLine(const std::function<bool(absl::string_view)>& on_data);

  const size_t max_bytes_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
};

}  // namespace callslip::bridge
