#include "tracker/server/request_limits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/mutex.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker::internal {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t kKiB = 1024;
constexpr uint32_t kMiB = 1024 * kKiB;
// For ids and names, whose own limits are all lower, and so for each text without a row.
constexpr uint32_t kName = kKiB;
constexpr FieldLimit kNameLimit = {"", kName};
// For texts for people and texts of pages, which are truncated later: the length that browsers
// allow for addresses, because a long address must not make a request fail.
constexpr uint32_t kText = 2 * kMiB;
// The longest message that gRPC accepts.
constexpr uint32_t kWhole = 16 * kMiB;
constexpr uint32_t kMany = 10'000;

// Counts fields and messages. A known number with a wrong type can be kept as an unknown field.
constexpr int kMaxParts = 200'000;
constexpr int kMaxUnknownFields = 1000;
constexpr int kMaxDepth = 32;
constexpr int kMaxJsonDepth = 100;
// For a time or a duration; and the longest number.
constexpr uint64_t kMaxPlainBytes = 64;
constexpr uint64_t kMaxNumberBytes = 10;

constexpr FieldLimit kLimits[] = {
    // Texts.
    {"stop_reason", kText},
    {"tracestate", kText},
    {"baggage", kText},
    {"name", kText},
    {"title", kText},
    {"url", kText},
    {"hint", kText},
    {"reason", kText},
    {"version", kText},
    {"browser", kText},
    {"working_dir", kText},
    {"CommandProgress.message", kText},
    {"PauseQueueRequest.message", kText},
    {"FinishTurnRequest.message", kText},
    {"SetAgentStateRequest.message", kText},
    {"error_message", kText},
    {"dir", kText},
    {"problem", kText},
    {"value", kText},
    {"CommandError.message", 8 * kMiB},
    // Payloads.
    {"params", 2 * kMaxParamsBytes},
    {"context", kText},
    {"result", kWhole},
    {"content", kWhole, 1, true},
    {"message", 8 * kMiB},
    {"text", 8 * kMiB},
    {"data", 8 * kMiB, 1, true},
    {"details", kMiB, 1, true},
    {"usage", kMiB, 1, true},
    {"PutImageRequest.data", 12 * kMiB},
    {"tabs", 2 * kMiB},
    // Repeated fields.
    {"states", 0, 100},
    {"held", kName, kMany},
    {"agents", kText, 100},
    {"children", kName, 100},
    {"workspaces", kText, 1000},
    {"children_in", kName, 16},
    {"lease_tokens", kName, 1000},
    {"command_ids", kName, 1000},
    {"image_ids", kName, 1000},
    {"tokens", kName, 1000},
    {"options", 2 * kText, 256},
    {"add", kText, kMany},
    {"remove", 0, kMany},
    {"events", kWhole, kMany},
    {"entries", kMiB, kMany},
    {"places", kName, kMany},
    // grpc.health.v1.
    {"service", kName},
};

// Counts the values and depth of JSON without building a tree; the parser decides whether it is
// valid.
class JsonCounter {
 public:
  void Add(absl::string_view bytes) {
    for (const char c : bytes) {
      if (in_string_) {
        in_string_ = escaped_ || c != '"';
        escaped_ = !escaped_ && c == '\\';
        continue;
      }
      if (c == '"') in_string_ = true;
      if (c == '[' || c == '{') deepest_ = std::max(deepest_, ++depth_);
      if (c == ']' || c == '}') --depth_;
      if (c == '[' || c == '{' || c == ',') ++values_;
    }
  }
  bool IsTooMuch() const { return values_ > kMaxJsonValues || deepest_ > kMaxJsonDepth; }

 private:
  int values_ = 0;
  int depth_ = 0;
  int deepest_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

bool HasLength(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
}

bool IsOurs(const Descriptor& type) { return type.file()->package() == "callslip.tracker.v1"; }

// For messages of other packages, as in tests.
constexpr FieldLimit kForeign = {"", kWhole, kMany};

}  // namespace

absl::Span<const FieldLimit> FieldLimits() { return kLimits; }

const FieldLimit* FindFieldLimit(const FieldDescriptor& field) {
  const auto named = [](absl::string_view name) {
    const auto* row =
        absl::c_find_if(kLimits, [&](const auto& each) { return each.field == name; });
    return row == std::end(kLimits) ? nullptr : row;
  };
  const std::string qualified = absl::StrCat(field.containing_type()->name(), ".", field.name());
  const FieldLimit* row = named(qualified);
  if (row == nullptr) row = named(field.name());
  const bool is_name = HasLength(field) && !field.is_repeated() && IsOurs(*field.containing_type());
  return row == nullptr && is_name ? &kNameLimit : row;
}

struct RequestShape::Look {
  CodedInputStream input;
  int parts = 0;
  int unknown = 0;
  absl::Status refused;

  // Skips `bytes` of JSON and counts their content.
  bool CountJson(const FieldDescriptor& field, uint32_t bytes) {
    JsonCounter counter;
    while (bytes > 0) {
      const void* data = nullptr;
      int size = 0;
      if (!input.GetDirectBufferPointer(&data, &size)) return false;
      size = static_cast<int>(std::min<uint32_t>(static_cast<uint32_t>(size), bytes));
      counter.Add({static_cast<const char*>(data), static_cast<size_t>(size)});
      bytes -= static_cast<uint32_t>(size);
      if (!input.Skip(size)) return false;
    }
    if (!counter.IsTooMuch()) return true;
    return Refuse(field.name(), absl::StrCat("must have at most ", kMaxJsonValues,
                                             " values, no more than ", kMaxJsonDepth, " deep"));
  }
  bool Refuse(absl::string_view field, absl::string_view why) {
    refused = InvalidField(field, why);
    return false;
  }
};

const RequestShape& RequestShape::Of(const Descriptor& type) {
  static Mutex& mutex = *new Mutex();
  MutexLock lock(&mutex);
  return OfLocked(type);
}

const RequestShape& RequestShape::OfLocked(const Descriptor& type) {
  static auto& shapes =
      *new absl::flat_hash_map<const Descriptor*, std::unique_ptr<RequestShape>>();
  std::unique_ptr<RequestShape>& known = shapes[&type];
  if (known != nullptr) return *known;
  // Inserted before its fields, so that a recursive type finds its own shape.
  known = std::make_unique<RequestShape>();
  RequestShape& shape = *known;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& descriptor = *type.field(i);
    Field field{.descriptor = &descriptor, .limit = FindFieldLimit(descriptor)};
    if (field.limit == nullptr && !IsOurs(type)) field.limit = &kForeign;
    if (field.limit == nullptr && (HasLength(descriptor) || descriptor.is_repeated())) {
      std::fprintf(stderr, "%s has no row in request_limits.cc\n", descriptor.full_name().c_str());
      std::abort();
    }
    const Descriptor* message = descriptor.message_type();
    if (message != nullptr && IsOurs(*message)) field.message = &OfLocked(*message);
    const auto number = static_cast<size_t>(descriptor.number());
    if (shape.fields_.size() <= number) shape.fields_.resize(number + 1);
    shape.fields_[number] = field;
  }
  return shape;
}

absl::Status RequestShape::Check(google::protobuf::io::ZeroCopyInputStream& bytes) const {
  Look look{.input = CodedInputStream(&bytes)};
  CheckMessage(look, 0);
  return look.refused;
}

bool RequestShape::CheckMessage(Look& look, int depth) const {
  if (depth > kMaxDepth) return false;
  absl::InlinedVector<uint32_t, 32> items(fields_.size());
  while (const uint32_t tag = look.input.ReadTag()) {
    const auto number = static_cast<size_t>(WireFormatLite::GetTagFieldNumber(tag));
    static const Field& none = *new Field();
    const Field& field = number < fields_.size() ? fields_[number] : none;
    if (field.descriptor == nullptr) {
      if (++look.unknown > kMaxUnknownFields) return look.Refuse("request", "has unknown fields");
    } else if (field.descriptor->is_repeated()) {
      if (++items[number] > field.limit->items) {
        return look.Refuse(field.limit->field,
                           absl::StrCat("must be at most ", field.limit->items));
      }
    }
    if (++look.parts > kMaxParts) {
      return look.Refuse("request", absl::StrCat("has more than ", kMaxParts, " parts"));
    }
    uint64_t value = 0;
    uint32_t bytes = 0;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        if (!look.input.ReadVarint64(&value)) return false;
        break;
      case WireFormatLite::WIRETYPE_FIXED64:
        if (!look.input.Skip(8)) return false;
        break;
      case WireFormatLite::WIRETYPE_FIXED32:
        if (!look.input.Skip(4)) return false;
        break;
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        if (!look.input.ReadVarint32(&bytes)) return false;
        if (!CheckLength(field, bytes, look, depth)) return false;
        break;
      default:
        // Groups: no field is one, and an unknown one would be kept with all its content.
        return look.Refuse("request", "has groups");
    }
  }
  return true;
}

bool RequestShape::CheckLength(const Field& field, uint32_t bytes, Look& look, int depth) {
  if (field.descriptor == nullptr) return look.input.Skip(static_cast<int>(bytes));
  if (field.message == nullptr) {
    // Packed numbers, or a time.
    uint64_t most = kMaxPlainBytes;
    if (field.limit != nullptr) {
      most = HasLength(*field.descriptor) ? field.limit->bytes
                                          : uint64_t{field.limit->items} * kMaxNumberBytes;
    }
    if (bytes > most) {
      return look.Refuse(field.descriptor->name(),
                         absl::StrCat("has ", bytes, " bytes, at most ", most, " are accepted"));
    }
    if (field.limit != nullptr && field.limit->is_json) {
      return look.CountJson(*field.descriptor, bytes);
    }
    return look.input.Skip(static_cast<int>(bytes));
  }
  const CodedInputStream::Limit outer = look.input.PushLimit(static_cast<int>(bytes));
  if (!field.message->CheckMessage(look, depth + 1)) return false;
  const bool is_whole = look.input.BytesUntilLimit() == 0;
  look.input.PopLimit(outer);
  return is_whole;
}

}  // namespace callslip::tracker::internal
