// Runs a fuzz target without a fuzzer: on inputs assembled from their typical parts, by a generator
// with a fixed seed. With clang's libFuzzer `./dev fuzz` covers more.

#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace callslip {
namespace {

constexpr int kInputs = 20'000;
constexpr size_t kMaxParts = 40;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string Input() {
    std::string input;
    for (size_t i = Below(kMaxParts); i > 0; --i) {
      const std::string message = Message();
      input += static_cast<char>(Below(256));
      input += static_cast<char>(message.size());
      input += message;
    }
    return input;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  // Mostly fields in protobuf's encoding, sometimes with a wrong bit.
  std::string Message() {
    std::string message;
    for (size_t i = Below(5); i > 0; --i) {
      const size_t field = 1 + Below(12);
      if (Below(2) == 0) {
        message += static_cast<char>(field << 3);
        message += static_cast<char>(Below(128));
      } else {
        const std::string text = Below(8) == 0 ? std::string(Below(40), 'x') : Short();
        message += static_cast<char>(field << 3 | 2);
        message += static_cast<char>(text.size());
        message += text;
      }
    }
    if (!message.empty() && Below(16) == 0) {
      message[Below(message.size())] ^= static_cast<char>(1 << Below(8));
    }
    return message.substr(0, 255);
  }

  std::string Short() {
    static constexpr const char* kTexts[] = {
        "",       "a",        "b",        "\x01",
        "\x02",   "\x08\x01", "\x08\x7f", "corr-1-00000000000000000000000000000000",
        "cmd-0-0"};
    return kTexts[Below(std::size(kTexts))];
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
