#include "telemetry/span_exporter.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "telemetry/testing/fake_collector.h"
#include "testing/otlp_trace.pb.h"

namespace callslip {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// The names of the spans of each request.
std::vector<std::vector<std::string>> NamesOf(const std::vector<std::string>& requests) {
  std::vector<std::vector<std::string>> all;
  for (const std::string& request : requests) {
    testing::otlp::ExportTraceServiceRequest decoded;
    EXPECT_TRUE(decoded.ParseFromString(request));
    std::vector<std::string>& names = all.emplace_back();
    for (const auto& span : decoded.resource_spans(0).scope_spans(0).spans()) {
      names.push_back(span.name());
    }
  }
  return all;
}

class SpanExporterTest : public ::testing::Test {
 protected:
  void Start(SpanLimits limits) {
    exporter_ = std::make_unique<SpanExporter>(&clock_, TelemetrySettings{.limits = limits},
                                               collector_.Transport());
    clock_.AwaitSleep();
  }
  void Record(const std::string& name) {
    exporter_->Record({.name = name, .context = TraceContext::New()});
  }

  FakeClock clock_;
  FakeCollector collector_;
  std::unique_ptr<SpanExporter> exporter_;
};

TEST_F(SpanExporterTest, BatchIsSentWhenFullOrDue) {
  Start({.queue = 10, .batch = 2, .delay = absl::Seconds(5)});
  Record("a");
  Record("b");
  EXPECT_THAT(NamesOf(collector_.Await(1)), ElementsAre(ElementsAre("a", "b")));
  Record("c");
  clock_.AwaitSleep();
  clock_.Advance(absl::Seconds(5));
  EXPECT_THAT(NamesOf(collector_.Await(2)).back(), ElementsAre("c"));
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().exported, 3);
  EXPECT_EQ(exporter_->Counts().dropped, 0);
}

TEST_F(SpanExporterTest, QueueIsBoundedWhileCollectorHangs) {
  Start({.queue = 4, .batch = 2, .delay = absl::Seconds(5)});
  collector_.Hang(true);
  Record("a");
  Record("b");
  collector_.Await(1);
  for (int i = 0; i < 100; ++i) Record("more");
  EXPECT_EQ(exporter_->Counts().dropped, 96);
  collector_.Hang(false);
  collector_.Await(3);
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().exported, 6);
}

TEST_F(SpanExporterTest, UnsentSpansAreSentByNextExporter) {
  const TemporaryFolder folder;
  const auto start = [&] {
    auto file = SpanFile::Open(folder.path(), "p");
    ASSERT_TRUE(file.ok());
    exporter_ = std::make_unique<SpanExporter>(&clock_, TelemetrySettings{}, collector_.Transport(),
                                               *std::move(file));
  };
  start();
  Span open{.name = "open", .context = TraceContext::New()};
  exporter_->Begin(open);
  Span sent{.name = "sent", .context = TraceContext::New()};
  exporter_->Begin(sent);
  collector_.AnswerWith({{.status = absl::InternalError("400")}});
  exporter_->Record(std::move(sent));
  exporter_->Stop(absl::Seconds(10));
  exporter_.reset();
  start();
  EXPECT_THAT(NamesOf(collector_.Await(2)).back(), UnorderedElementsAre("open", "sent"));
  exporter_->Stop(absl::Seconds(10));
  exporter_.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(SpanExporterTest, SpansOfKilledProcessWaitForCollector) {
  const TemporaryFolder folder;
  {
    const auto file = SpanFile::Open(folder.path(), "p");
    ASSERT_TRUE(file.ok());
    (*file)->Put(EncodeSpan({.name = "lost", .context = TraceContext::New()}));
  }
  auto file = SpanFile::Open(folder.path(), "p");
  ASSERT_TRUE(file.ok());
  collector_.AnswerWith(std::deque<OtlpAnswer>(3, {.status = absl::UnavailableError("503")}));
  TelemetrySettings settings;
  settings.limits.delay = absl::Hours(1);
  exporter_ =
      std::make_unique<SpanExporter>(&clock_, settings, collector_.Transport(), *std::move(file));
  for (size_t attempts = 1; attempts <= 3; ++attempts) {
    collector_.Await(attempts);
    clock_.AwaitSleep();
    clock_.Advance(absl::Seconds(2));
  }
  EXPECT_EQ(exporter_->Counts().failed, 0);
  clock_.Advance(absl::Hours(1));
  EXPECT_THAT(NamesOf(collector_.Await(4)).back(), ElementsAre("lost"));
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().exported, 1);
  exporter_.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(SpanExporterTest, StopsWhileCollectorHangs) {
  Start({.queue = 4, .batch = 1, .delay = absl::Seconds(5)});
  collector_.Hang(true);
  Record("a");
  collector_.Await(1);
  Record("b");
  exporter_->Stop(absl::Milliseconds(20));
  // Stop() has returned, and the thread has ended: each span is counted.
  EXPECT_EQ(exporter_->Counts().exported + exporter_->Counts().failed + exporter_->Counts().dropped,
            2);
}

TEST_F(SpanExporterTest, RetriesRetryableFailures) {
  Start({.queue = 4, .batch = 1, .delay = absl::Seconds(5)});
  collector_.AnswerWith(
      {{.status = absl::UnavailableError("503")}, {.status = absl::UnavailableError("503")}});
  Record("a");
  collector_.Await(1);
  clock_.AwaitSleep();
  clock_.Advance(absl::Seconds(1));
  collector_.Await(2);
  clock_.AwaitSleep();
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(collector_.Await(3).size(), 3u);
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().exported, 1);
  EXPECT_EQ(exporter_->Counts().failed, 0);
}

TEST_F(SpanExporterTest, HonorsRetryAfterOfCollector) {
  Start({.queue = 4, .batch = 1, .delay = absl::Hours(1)});
  collector_.AnswerWith(
      {{.status = absl::UnavailableError("429"), .retry_after = absl::Seconds(20)},
       {.status = absl::UnavailableError("429"), .retry_after = absl::Hours(1)}});
  Record("a");
  collector_.Await(1);
  clock_.AwaitSleep();
  // A full batch does not cut the pause short.
  Record("b");
  clock_.Advance(absl::Seconds(19));
  EXPECT_EQ(collector_.Await(1).size(), 1u);
  clock_.Advance(absl::Seconds(1));
  // The second pause is too long to keep a span for: it is given up, and the next one is sent.
  EXPECT_THAT(NamesOf(collector_.Await(3)),
              ElementsAre(ElementsAre("a"), ElementsAre("a"), ElementsAre("b")));
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().failed, 1);
  EXPECT_EQ(exporter_->Counts().exported, 1);
}

TEST_F(SpanExporterTest, RejectedSpansCountAsFailed) {
  Start({.queue = 4, .batch = 3, .delay = absl::Hours(1)});
  collector_.AnswerWith({{.rejected = 2}});
  for (const char* name : {"a", "b", "c"}) Record(name);
  collector_.Await(1);
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().failed, 2);
  EXPECT_EQ(exporter_->Counts().exported, 1);
}

TEST_F(SpanExporterTest, DropsPermanentlyRefusedBatch) {
  Start({.queue = 4, .batch = 1, .delay = absl::Seconds(5)});
  collector_.AnswerWith({{.status = absl::InternalError("400")}});
  Record("a");
  collector_.Await(1);
  Record("b");
  collector_.Await(2);
  exporter_->Stop(absl::Seconds(10));
  EXPECT_EQ(exporter_->Counts().failed, 1);
  EXPECT_EQ(exporter_->Counts().exported, 1);
}

TEST_F(SpanExporterTest, SendsRemainingSpansAtEnd) {
  Start({.queue = 10, .batch = 10, .delay = absl::Hours(1)});
  Record("a");
  exporter_->Stop(absl::Seconds(10));
  EXPECT_THAT(NamesOf(collector_.Await(1)), ElementsAre(ElementsAre("a")));
}

}  // namespace
}  // namespace callslip
