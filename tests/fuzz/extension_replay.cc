// Runs extension_requests_fuzz without a fuzzer: on bodies assembled from their typical parts, in
// any place, by a generator with a fixed seed.

#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace callslip {
namespace {

using nlohmann::json;

constexpr int kInputs = 20'000;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string Input() {
    std::string input(1, static_cast<char>(Below(4)));
    input += Value(5).dump();
    // Sometimes a wrong byte.
    if (Below(8) == 0) input[Below(input.size())] = static_cast<char>(Below(256));
    return input;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  std::string Name() {
    static constexpr const char* kNames[] = {"session_id",
                                             "ext_session_id",
                                             "settings",
                                             "extension_logs",
                                             "command_results",
                                             "in_progress",
                                             "id",
                                             "correlation_id",
                                             "status",
                                             "result",
                                             "error",
                                             "success",
                                             "message",
                                             "progress_pct",
                                             "tracking_enabled",
                                             "tracked_tab_id",
                                             "tracked_tab_url",
                                             "pilot_enabled",
                                             "resolved_tab_id",
                                             "resolved_url",
                                             "extension_version",
                                             "data_url",
                                             "query_id",
                                             "url",
                                             "tabs",
                                             "tab_id",
                                             "title",
                                             "active",
                                             "paused",
                                             "name",
                                             "worker",
                                             "progress",
                                             "fraction",
                                             "action",
                                             "cookie"};
    return kNames[Below(std::size(kNames))];
  }

  json Value(size_t depth) {
    static constexpr const char* kTexts[] = {"",         "corr-1/lease-1",
                                             "corr-1",   "complete",
                                             "error",    "timeout",
                                             "a b",      "\n",
                                             "get_page", "data:image/png;base64,AAAA"};
    switch (depth == 0 ? Below(6) : depth == 5 ? 7 : Below(12)) {
      case 0: return nullptr;
      case 1: return Below(2) == 0;
      case 2: return static_cast<int64_t>(random_());
      case 3: return static_cast<double>(random_()) * 1e300;
      case 4: return kTexts[Below(std::size(kTexts))];
      case 5: return std::string(Below(64) == 0 ? 10'000 : Below(50), 'x');
      case 6: {
        json array = json::array();
        for (size_t i = Below(4); i > 0; --i) array.push_back(Value(depth - 1));
        return array;
      }
      default: {
        json object = json::object();
        for (size_t i = Below(8); i > 0; --i) object[Name()] = Value(depth - 1);
        return object;
      }
    }
  }

  std::mt19937_64 random_;
};

TEST(FuzzReplay, HoldsForSeededInputs) {
  Generator generator(1);
  for (int i = 0; i < kInputs; ++i) {
    const std::string input = generator.Input();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
}

}  // namespace
}  // namespace callslip
