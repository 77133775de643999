// Requests are checked before they are parsed.
#include "tracker/server/request_limits.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/unknown_field_set.h"
#include "tracker/rpc/access_fixture.h"

namespace callslip::tracker {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using internal::FieldLimit;
using internal::RequestShape;
using ::testing::HasSubstr;

std::unique_ptr<Message> New(const Descriptor& type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

absl::Status Check(const Descriptor& type, const std::string& bytes) {
  google::protobuf::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  return RequestShape::Of(type).Check(input);
}
absl::Status Check(const Message& request) {
  return Check(*request.GetDescriptor(), request.SerializeAsString());
}

bool HasLimit(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING || field.is_repeated();
}

// The types of all requests and of their members.
std::vector<const Descriptor*> AllTypes() {
  std::vector<const Descriptor*> types;
  const std::function<void(const Descriptor&)> add = [&](const Descriptor& type) {
    const bool is_ours = type.file()->package() != "google.protobuf";
    if (!is_ours || absl::c_linear_search(types, &type)) return;
    types.push_back(&type);
    for (int i = 0; i < type.field_count(); ++i) {
      if (type.field(i)->message_type() != nullptr) add(*type.field(i)->message_type());
    }
  };
  for (const auto* method : AllMethods()) add(*method->input_type());
  return types;
}

// Puts a value of `bytes` bytes into the field. A repeated field gets it after the others.
void Put(Message& message, const FieldDescriptor& field, size_t bytes) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (field.is_repeated())
        return reflection.AddString(&message, &field, std::string(bytes, 'a'));
      return reflection.SetString(&message, &field, std::string(bytes, 'a'));
    case FieldDescriptor::CPPTYPE_MESSAGE: reflection.AddMessage(&message, &field); return;
    case FieldDescriptor::CPPTYPE_ENUM:
      // The longest encoding of a number: packed numbers are limited by their bytes.
      return reflection.AddEnumValue(&message, &field, -1);
    default: return reflection.AddInt64(&message, &field, -1);
  }
}

TEST(RequestLimitsTest, EveryFieldOfEveryRequestHasALimit) {
  std::set<const FieldLimit*> used;
  int fields = 0;
  for (const Descriptor* type : AllTypes()) {
    for (int i = 0; i < type->field_count(); ++i) {
      if (!HasLimit(*type->field(i))) continue;
      const FieldLimit* limit = internal::FindFieldLimit(*type->field(i));
      ASSERT_NE(limit, nullptr) << type->field(i)->full_name() << " has no row";
      used.insert(limit);
      ++fields;
    }
  }
  EXPECT_GT(fields, 200);
  for (const FieldLimit& limit : internal::FieldLimits()) {
    EXPECT_TRUE(used.contains(&limit)) << limit.field << " is the row of no field";
  }
}

TEST(RequestLimitsTest, EveryFieldIsAcceptedAtItsLimitAndRefusedBeyond) {
  constexpr uint32_t kWholeMessage = 16 << 20;
  for (const Descriptor* type : AllTypes()) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      if (!HasLimit(field)) continue;
      const FieldLimit& limit = *internal::FindFieldLimit(field);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && limit.bytes < kWholeMessage) {
        const auto request = New(*type);
        Put(*request, field, limit.bytes);
        EXPECT_OK(Check(*request)) << field.full_name();
        request->Clear();
        Put(*request, field, limit.bytes + 1);
        EXPECT_THAT(Check(*request),
                    FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"))
            << field.full_name();
      }
      if (!field.is_repeated()) continue;
      const auto request = New(*type);
      for (uint32_t item = 0; item < limit.items; ++item) Put(*request, field, 0);
      EXPECT_OK(Check(*request)) << field.full_name();
      Put(*request, field, 0);
      EXPECT_THAT(Check(*request),
                  FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"))
          << field.full_name();
    }
  }
}

TEST(RequestLimitsTest, RequestThatNeedsMuchMoreMemoryThanItsBytesIsRefused) {
  // Empty events, JSON with too many or too deep values, and unknown fields.
  std::string bytes;
  for (int i = 0; i < 4 << 20; ++i) bytes += std::string("\x1a\x00", 2);
  EXPECT_THAT(Check(*v1::AppendEventsRequest::descriptor(), bytes),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
  v1::AppendEventsRequest json;
  std::string& data = *json.add_events()->mutable_data();
  data = "[";
  for (int i = 0; i < 200'000; ++i) data += "[],";
  EXPECT_THAT(std::string(Check(json).message()), HasSubstr("data must have at most"));
  data = std::string(101, '[');
  EXPECT_FALSE(Check(json).ok());
  data = absl::StrCat("[\"", std::string(200'000, '['), "\\\"", std::string(200'000, ','), "\"]");
  EXPECT_OK(Check(json)) << "it is text: " << data.size();

  v1::GetCommandRequest unknown;
  auto* fields = unknown.GetReflection()->MutableUnknownFields(&unknown);
  for (int i = 0; i < 1001; ++i) fields->AddVarint(100, 1);
  EXPECT_FALSE(Check(unknown).ok());
  fields->Clear();
  fields->AddVarint(100, 1);
  EXPECT_OK(Check(unknown)) << "of a newer caller";
  fields->AddGroup(100);
  EXPECT_FALSE(Check(unknown).ok());
  fields->Clear();
  // The number of a string field, with numbers as values.
  for (int i = 0; i < 200'001; ++i) fields->AddVarint(1, 1);
  EXPECT_FALSE(Check(unknown).ok());
  v1::RegisterCommandRequest time;
  auto* not_before = time.mutable_not_before();
  not_before->GetReflection()
      ->MutableUnknownFields(not_before)
      ->AddLengthDelimited(9, std::string(1000, 'x'));
  EXPECT_FALSE(Check(time).ok());
}

TEST(RequestLimitsTest, MalformedMessageIsLeftToTheParser) {
  const Descriptor& type = *v1::RegisterCommandRequest::descriptor();
  for (const char* bytes : {"\x0a", "\x0a\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    EXPECT_OK(Check(type, bytes));
  }
}

// An error may quote the request. Its text goes into a header, which has its own limit.
TEST(RequestLimitsTest, LongErrorMessageIsTruncated) {
  grpc::ServerContext context;
  std::string text(1022, 'x');
  for (int i = 0; i < 1000; ++i) text += "ä";
  const grpc::Status status = ToGrpc(absl::NotFoundError(text), context);
  EXPECT_EQ(status.error_message(), text.substr(0, 1024) + "…");
  text.insert(0, "x");
  EXPECT_EQ(ToGrpc(absl::NotFoundError(text), context).error_message(), text.substr(0, 1023) + "…");
}

// Through every method of every service.
class RequestLimitsServedTest : public AccessTest {
 protected:
  RequestLimitsServedTest() { Serve(); }
};

TEST_F(RequestLimitsServedTest, EveryMethodRefusesEachFieldThatIsTooLong) {
  const Caller gateway{"gateway", "over the unix socket", "", true};
  int refused = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const Descriptor& type = *method->input_type();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING || field.is_repeated()) continue;
      const FieldLimit& limit = *internal::FindFieldLimit(field);
      if (limit.bytes > 8 << 20) continue;
      const absl::Status outcome = Outcome(
          *method, gateway, [&](Message& request) { Put(request, field, limit.bytes + 1); });
      EXPECT_EQ(outcome.code(), absl::StatusCode::kInvalidArgument)
          << method->full_name() << " " << field.name() << ": " << outcome;
      EXPECT_THAT(std::string(outcome.message()), HasSubstr(field.name()));
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
  EXPECT_OK(
      CallOver(unix_, &v1::CommandService::Stub::ListCommands, "", v1::ListCommandsRequest()));
}

}  // namespace
}  // namespace callslip::tracker
