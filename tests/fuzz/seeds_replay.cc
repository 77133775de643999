// Runs a fuzz target without a fuzzer: on its seeds, and on seeds whose lines and bytes are mixed
// and changed by a generator with a fixed seed.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace callslip {
namespace {

constexpr int kInputs = 10'000;

void Replay(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// Sorted by name: machines list a folder in different orders.
std::vector<std::string> Seeds() {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CALLSLIP_SEEDS_DIR)) {
    paths.insert(entry.path());
  }
  std::vector<std::string> seeds;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

class Generator {
 public:
  explicit Generator(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  std::string Input() {
    std::string input;
    for (size_t i = 1 + Below(8); i > 0; --i) {
      std::string line = lines_[Below(lines_.size())];
      if (Below(3) == 0) Mutate(line);
      input += line + "\n";
    }
    return input;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  // Changes the headers, a byte, or inserts a piece of another line.
  void Mutate(std::string& line) {
    static constexpr char kBytes[] = "0123456789abcdef{}[]\":,.-\\enu\x80";
    const std::string& other = lines_[Below(lines_.size())];
    const size_t at = Below(line.size());
    switch (Below(4)) {
      case 0:
        for (size_t i = 0; i < 4; ++i) line[i] = kBytes[Below(16)];
        break;
      case 1: line[at] = kBytes[Below(sizeof(kBytes) - 1)]; break;
      case 2: line.erase(at, 1 + Below(8)); break;
      default: line.insert(at, other.substr(Below(other.size()), Below(40)));
    }
  }

  const std::vector<std::string> lines_;
  std::mt19937_64 random_{1};
};

TEST(SeedsReplay, HoldsForSeedsAndWhatIsMadeOfThem) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_FALSE(seeds.empty());
  std::vector<std::string> lines;
  for (const std::string& seed : seeds) {
    Replay(seed);
    for (const absl::string_view line : absl::StrSplit(seed, '\n')) {
      if (line.size() >= 5) lines.emplace_back(line);
    }
  }
  Generator generator(std::move(lines));
  for (int i = 0; i < kInputs; ++i) Replay(generator.Input());
}

}  // namespace
}  // namespace callslip
