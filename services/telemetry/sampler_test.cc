#include "telemetry/sampler.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

// A trace whose last 64 bits are `low`, as hex.
TraceContext Trace(absl::string_view low, bool sampled) {
  return *TraceContext::Parse(
      absl::StrCat("00-4bf92f3577b34da6", low, "-00f067aa0ba902b7-", sampled ? "01" : "00"));
}

// Decisions on a trace that begins here, and on traces that others have begun.
struct Verdicts {
  bool root;
  bool sampled_parent;
  bool unsampled_parent;
};

TEST(SamplerTest, DecidesAccordingToItsName) {
  const struct {
    const char* name;
    const char* argument;
    Verdicts expected;
  } kTable[] = {
      {"always_on", "", {true, true, true}},
      {"always_off", "", {false, false, false}},
      {"traceidratio", "1", {true, true, true}},
      {"traceidratio", "0", {false, false, false}},
      {"traceidratio", "", {true, true, true}},
      {"parentbased_always_on", "", {true, true, false}},
      {"parentbased_always_off", "", {false, true, false}},
      {"parentbased_traceidratio", "0.75", {true, true, false}},
      {"parentbased_traceidratio", "0.25", {false, true, false}},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(absl::StrCat(row.name, " ", row.argument));
    const auto sampler = Sampler::Of(row.name, row.argument);
    ASSERT_TRUE(sampler.has_value());
    // In the middle of all ids.
    const std::string low = "8000000000000000";
    EXPECT_EQ(sampler->Samples({}, Trace(low, false)), row.expected.root);
    EXPECT_EQ(sampler->Samples(Trace(low, true), Trace(low, true)), row.expected.sampled_parent);
    EXPECT_EQ(sampler->Samples(Trace(low, false), Trace(low, false)),
              row.expected.unsampled_parent);
  }
}

TEST(SamplerTest, DefaultIsParentBasedAlwaysOn) {
  EXPECT_TRUE(Sampler().Samples({}, Trace("8000000000000000", false)));
  EXPECT_FALSE(
      Sampler().Samples(Trace("8000000000000000", false), Trace("8000000000000000", false)));
}

TEST(SamplerTest, RatioIsShareOfSampledTraces) {
  constexpr int kTraces = 200'000;
  for (const auto& [text, ratio] : {std::pair("0.0005", 0.0005), {"0.01", 0.01}, {"0.5", 0.5}}) {
    const auto sampler = Sampler::Of("traceidratio", text);
    int sampled = 0;
    for (int i = 0; i < kTraces; ++i) sampled += sampler->Samples({}, TraceContext::New()) ? 1 : 0;
    const double expected = kTraces * ratio;
    EXPECT_NEAR(sampled, expected, 7 * std::sqrt(expected * (1 - ratio))) << text;
  }
}

TEST(SamplerTest, RefusesUnknownSamplersAndInvalidRatios) {
  for (const auto& [name, argument] : {std::pair("", ""),
                                       {"on", ""},
                                       {"parentbased_", ""},
                                       {"ALWAYS_ON", ""},
                                       {"jaeger_remote", ""},
                                       {"traceidratio", "1.1"},
                                       {"traceidratio", "-0.1"},
                                       {"traceidratio", "nan"},
                                       {"traceidratio", "half"}}) {
    EXPECT_FALSE(Sampler::Of(name, argument).has_value()) << name << " " << argument;
  }
}

}  // namespace
}  // namespace callslip
