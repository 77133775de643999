#include "conformance/conformance_fixtures.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/random.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

using Outcome = boost::asio::awaitable<RpcOutcome>;
using Context = std::shared_ptr<CallContext>;

// A grey dot, and a millisecond of silence.
constexpr char kPng[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";
constexpr char kWav[] = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

constexpr char kNoArguments[] = R"({"type": "object", "properties": {}})";

const Json& Member(const Json& object, const char* name) {
  static const auto& absent = *new Json();
  if (!object.is_object()) return absent;
  const auto member = object.find(name);
  return member == object.end() ? absent : *member;
}

std::string TextMember(const Json& object, const char* name) {
  const Json& member = Member(object, name);
  return member.is_string() ? member.get<std::string>() : "";
}

Json TextContent(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }
Json ImageContent() { return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}}; }
Json AudioContent() { return {{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}; }
Json ResourceContent(const std::string& uri) {
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", "text/plain"}, {"text", "An embedded text."}}}};
}

// A CallToolResult.
Json Content(Json content) { return {{"content", Json::array({std::move(content)})}}; }
Json Says(std::string text) { return Content(TextContent(std::move(text))); }
Json Fails(std::string text) {
  Json result = Says(std::move(text));
  result["isError"] = true;
  return result;
}

RpcError InvalidParams(std::string message) {
  return {JsonRpcCode::kInvalidParams, std::move(message)};
}

RpcError MissingCapabilities(Json required) {
  return {JsonRpcCode::kMissingClientCapability, "The client lacks a capability that this needs.",
          Json{{"requiredCapabilities", std::move(required)}}};
}

class Fixture : public Tool {
 public:
  Fixture(const char* name, const char* description, const char* schema)
      : definition_(
            {{"name", name}, {"description", description}, {"inputSchema", Json::parse(schema)}}) {}

  const Json& Definition() const override { return definition_; }
  absl::Duration LongestWait(const Json&) const override { return absl::ZeroDuration(); }

 private:
  const Json definition_;
};

// Always gives the same answer.
class FixedAnswer final : public Fixture {
 public:
  FixedAnswer(const char* name, const char* description, Json result,
              const char* schema = kNoArguments)
      : Fixture(name, description, schema), result_(std::move(result)) {}

  boost::asio::awaitable<ToolResult> Call(Context, Json) const override {
    co_return ToolResult{.result = result_};
  }

 private:
  const Json result_;
};

// Runs a function.
class Script final : public Fixture {
 public:
  using Function = RpcOutcome (*)(CallContext& context, const Json& arguments);

  Script(const char* name, const char* description, Function function,
         const char* schema = kNoArguments)
      : Fixture(name, description, schema), function_(function) {}

  // The function may send messages before its answer.
  absl::Duration LongestWait(const Json&) const override { return kSlowWait; }

  boost::asio::awaitable<ToolResult> Call(Context context, Json arguments) const override {
    co_return ToolResult{.result = function_(*context, arguments)};
  }

 private:
  const Function function_;
};

RpcOutcome Greet(CallContext&, const Json& arguments) {
  return Says(absl::StrCat("Hello, ", TextMember(arguments, "name"), "!"));
}

RpcOutcome WriteLog(CallContext& context, const Json&) {
  for (const char* message : {"The tool starts.", "The tool works.", "The tool ends."}) {
    context.NotifyLog("info", "fixtures", message);
  }
  return Says("Wrote three messages to the log.");
}

RpcOutcome MakeProgress(CallContext& context, const Json&) {
  for (const int percent : {0, 50, 100}) context.NotifyProgress(percent, 100, "");
  return Says("Made progress.");
}

RpcOutcome NeedSampling(CallContext& context, const Json&) {
  if (Member(context.client_capabilities(), "sampling").is_object()) return Says("It is there.");
  return MissingCapabilities({{"sampling", Json::object()}});
}

// Reports that a list has changed.
class Announcement final : public Fixture {
 public:
  Announcement(const char* name, std::string list,
               std::function<void(const std::string& list)> announce)
      : Fixture(name, "Pretends that a list of this server has changed.", kNoArguments),
        list_(std::move(list)),
        announce_(std::move(announce)) {}

  boost::asio::awaitable<ToolResult> Call(Context, Json) const override {
    announce_(list_);
    co_return ToolResult{.result = Says("Announced.")};
  }

 private:
  const std::string list_;
  const std::function<void(const std::string& list)> announce_;
};

// Sends a request to the client during the call, which only legacy clients support.
class Question final : public Fixture {
 public:
  // The call's `argument`, if not null, is put into the request's params at `pointer`.
  Question(const char* name, const char* method, const char* params, const char* argument = nullptr,
           const char* pointer = "")
      : Fixture(name, "Asks the client, and says what it answered.", Schema(argument).c_str()),
        method_(method),
        params_(Json::parse(params)),
        argument_(argument),
        pointer_(pointer) {}

  absl::Duration LongestWait(const Json&) const override { return kSlowWait; }

  boost::asio::awaitable<ToolResult> Call(Context context, Json arguments) const override {
    if (context->era() == Era::kModern) {
      co_return ToolResult{.result = Fails("Clients of this version cannot be asked meanwhile.")};
    }
    Json params = params_;
    if (argument_ != nullptr) {
      params[Json::json_pointer(pointer_)] = TextMember(arguments, argument_);
    }
    std::string method = method_;
    const RpcOutcome outcome = co_await context->Request(std::move(method), std::move(params));
    if (const auto* error = std::get_if<RpcError>(&outcome); error != nullptr) {
      co_return ToolResult{.result = Fails(absl::StrCat("The client refused: ", error->message))};
    }
    co_return ToolResult{
        .result = Says(absl::StrCat("The client answered: ", Dump(std::get<Json>(outcome))))};
  }

 private:
  static std::string Schema(const char* argument) {
    if (argument == nullptr) return kNoArguments;
    return Dump({{"type", "object"},
                 {"properties", {{argument, {{"type", "string"}}}}},
                 {"required", Json::array({argument})}});
  }

  const char* const method_;
  const Json params_;
  const char* const argument_;
  const char* const pointer_;
};

// Requests a modern client for input, in rounds, before it answers. Keeps no state: the
// requestState identifies the round, and a client can't invent one.
class InputRounds {
 public:
  // The inputRequests of each round. Only `sealed` rounds have a requestState.
  InputRounds(bool sealed, std::initializer_list<const char*> rounds) {
    for (const char* requests : rounds) {
      rounds_.push_back(Json::parse(requests));
      if (sealed) seals_.push_back(RandomHex128());
    }
  }

  // The InputRequiredResult for the missing input, or the error if the client can't provide it;
  // nullopt if all input is there.
  std::optional<RpcOutcome> AskForRest(const CallContext& context) const {
    size_t round = 0;
    const Json& state = Member(context.params(), "requestState");
    if (!state.is_null()) {
      const auto seal = absl::c_find(seals_, state);
      if (seal == seals_.end()) return InvalidParams("params.requestState was not issued here.");
      round = seal - seals_.begin();
    }
    const Json requests = Askable(context, rounds_[round]);
    if (requests.empty()) return MissingCapabilities(CapabilitiesFor(rounds_[round]));
    // Input is accepted only together with the requestState of its request.
    const bool may_be_answer = seals_.empty() || !state.is_null();
    if (!may_be_answer || !Answered(context, requests)) return Ask(round, requests);
    if (++round == rounds_.size()) return std::nullopt;
    return Ask(round, Askable(context, rounds_[round]));
  }

 private:
  static std::string CapabilityFor(const Json& request) {
    const std::string method = TextMember(request, "method");
    return method.substr(0, method.find('/'));
  }

  static Json CapabilitiesFor(const Json& requests) {
    Json capabilities = Json::object();
    for (const Json& request : requests) capabilities[CapabilityFor(request)] = Json::object();
    return capabilities;
  }

  // The `requests` that the client has declared a capability for.
  static Json Askable(const CallContext& context, Json requests) {
    Json askable = Json::object();
    for (auto& [key, request] : requests.items()) {
      const std::string capability = CapabilityFor(request);
      if (!Member(context.client_capabilities(), capability.c_str()).is_object()) continue;
      askable[key] = std::move(request);
    }
    return askable;
  }

  static bool Answered(const CallContext& context, const Json& requests) {
    const Json& responses = Member(context.params(), "inputResponses");
    return absl::c_all_of(requests.items(), [&](const auto& item) {
      return Member(responses, item.key().c_str()).is_object();
    });
  }

  RpcOutcome Ask(size_t round, Json requests) const {
    Json result = {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}};
    if (!seals_.empty()) result["requestState"] = seals_[round];
    return result;
  }

  std::vector<Json> rounds_;
  std::vector<std::string> seals_;  // The requestState of each round; empty if there is none.
};

std::string InputText(const CallContext& context) {
  return absl::StrCat("state-ok, with ", Dump(Member(context.params(), "inputResponses")));
}

// Needs input before it answers.
class InputTool final : public Fixture {
 public:
  InputTool(const char* name, bool sealed, std::initializer_list<const char*> rounds)
      : Fixture(name, "Asks the client for input first.", kNoArguments), rounds_(sealed, rounds) {}

  boost::asio::awaitable<ToolResult> Call(Context context, Json) const override {
    std::optional<RpcOutcome> question = rounds_.AskForRest(*context);
    if (question.has_value()) co_return ToolResult{.result = *std::move(question)};
    co_return ToolResult{.result = Says(InputText(*context))};
  }

 private:
  const InputRounds rounds_;
};

// Tasks that end when their duration has passed and all their input is there. Used by one thread.
class FixtureTasks final : public TaskProvider {
 public:
  // The conditions and the outcome of a task.
  struct Job {
    absl::Duration duration;
    Json input_requests = Json::object();
    RpcOutcome outcome;
  };

  explicit FixtureTasks(Clock* clock) : clock_(clock) {}

  // Returns a CreateTaskResult.
  Json Create(Job job) {
    const std::string id = absl::StrCat(kIdPrefix, RandomHex128());
    const absl::Time now = clock_->Now();
    const auto [it, inserted] = tasks_.emplace(id, Task{std::move(job), now, now, false});
    ids_.push_back(id);
    if (ids_.size() > kMaxTasks) {
      tasks_.erase(ids_.front());
      ids_.pop_front();
    }
    Json created = Describe(it->first, it->second);
    created["resultType"] = "task";
    return created;
  }

  bool Owns(const std::string& task_id) const override {
    return absl::StartsWith(task_id, kIdPrefix);
  }

  Outcome Get(Context, std::string task_id) const override {
    const auto it = tasks_.find(task_id);
    if (it == tasks_.end()) co_return Unknown(task_id);
    const Task& task = it->second;
    Json detailed = Describe(task_id, task);
    const std::string status = detailed["status"];
    if (status == "input_required") detailed["inputRequests"] = task.job.input_requests;
    if (status == "completed") detailed["result"] = std::get<Json>(task.job.outcome);
    if (status == "failed") {
      const auto& error = std::get<RpcError>(task.job.outcome);
      detailed["error"] = {{"code", error.code}, {"message", error.message}};
    }
    co_return detailed;
  }

  Outcome Update(Context, std::string task_id, Json responses) const override {
    const auto it = tasks_.find(task_id);
    if (it == tasks_.end()) co_return Unknown(task_id);
    for (const auto& [key, response] : responses.items()) {
      it->second.updated = clock_->Now();
      it->second.job.input_requests.erase(key);
    }
    co_return Json::object();
  }

  Outcome Cancel(Context, std::string task_id) const override {
    const auto it = tasks_.find(task_id);
    if (it == tasks_.end()) co_return Unknown(task_id);
    const std::string status = StatusOf(it->second);
    if (status == "working" || status == "input_required") {
      it->second.updated = clock_->Now();
      it->second.cancelled = true;
    }
    co_return Json::object();
  }

 private:
  static constexpr char kIdPrefix[] = "fixture-";
  static constexpr size_t kMaxTasks = 1000;

  struct Task {
    Job job;
    absl::Time created;
    absl::Time updated;
    bool cancelled;
  };

  static RpcError Unknown(const std::string& task_id) {
    return InvalidParams(absl::StrCat("Unknown task: ", task_id));
  }

  static std::string WireTime(absl::Time time) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
  }

  std::string StatusOf(const Task& task) const {
    if (task.cancelled) return "cancelled";
    if (!task.job.input_requests.empty()) return "input_required";
    if (clock_->Now() < task.created + task.job.duration) return "working";
    return std::holds_alternative<RpcError>(task.job.outcome) ? "failed" : "completed";
  }

  Json Describe(const std::string& id, const Task& task) const {
    return {{"taskId", id},
            {"status", StatusOf(task)},
            {"createdAt", WireTime(task.created)},
            {"lastUpdatedAt", WireTime(task.updated)},
            {"ttlMs", nullptr},
            {"pollIntervalMs", 100}};
  }

  Clock* const clock_;
  // TaskProvider's methods are const, since the other providers only translate.
  mutable std::map<std::string, Task> tasks_;
  std::deque<std::string> ids_;  // Oldest first.
};

// Becomes a task, unless it ends at once.
class TaskTool final : public Fixture {
 public:
  using MakeJob = FixtureTasks::Job (*)(const CallContext& context, const Json& arguments);

  TaskTool(FixtureTasks* tasks, const char* name, const char* description, MakeJob make_job,
           const char* schema = kNoArguments, std::optional<InputRounds> rounds = std::nullopt)
      : Fixture(name, description, schema),
        tasks_(tasks),
        make_job_(make_job),
        rounds_(std::move(rounds)) {}

  bool MayBeTask() const override { return true; }

  boost::asio::awaitable<ToolResult> Call(Context context, Json arguments) const override {
    std::optional<RpcOutcome> question;
    if (rounds_.has_value()) question = rounds_->AskForRest(*context);
    if (question.has_value()) co_return ToolResult{.result = *std::move(question)};
    FixtureTasks::Job job = make_job_(*context, arguments);
    if (context->era() == Era::kModern && context->as_task()) {
      co_return ToolResult{.result = tasks_->Create(std::move(job))};
    }
    if (job.duration == absl::ZeroDuration() && job.input_requests.empty()) {
      co_return ToolResult{.result = std::move(job.outcome)};
    }
    co_return ToolResult{
        .result = MissingCapabilities({{"extensions", {{kTasksExtension, Json::object()}}}})};
  }

 private:
  FixtureTasks* const tasks_;
  const MakeJob make_job_;
  const std::optional<InputRounds> rounds_;
};

FixtureTasks::Job Compute(const CallContext&, const Json& arguments) {
  const Json& seconds = Member(arguments, "seconds");
  const double duration = seconds.is_number() ? seconds.get<double>() : 0;
  return {.duration = absl::Seconds(std::clamp(duration, 0.0, 3600.0)),
          .outcome = Says(absl::StrCat("Computed ", TextMember(arguments, "label"), "."))};
}

FixtureTasks::Job FailAsTool(const CallContext&, const Json&) {
  return {.duration = absl::Seconds(1), .outcome = Fails("The job failed, as it should.")};
}

FixtureTasks::Job FailAsProtocol(const CallContext&, const Json&) {
  return {.duration = absl::Seconds(1),
          .outcome = RpcError{JsonRpcCode::kInternalError, "The job broke, as it should."}};
}

Json Confirmation(const char* message) {
  return {{"method", "elicitation/create"},
          {"params",
           {{"mode", "form"},
            {"message", message},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", {{"confirm", {{"type", "boolean"}}}}},
              {"required", Json::array({"confirm"})}}}}}};
}

FixtureTasks::Job ConfirmOnce(const CallContext&, const Json& arguments) {
  return {.input_requests = {{"confirm", Confirmation("Shall it be deleted?")}},
          .outcome = Says(absl::StrCat("Deleted ", TextMember(arguments, "filename"), "."))};
}

FixtureTasks::Job ConfirmTwice(const CallContext&, const Json&) {
  return {.input_requests = {{"first", Confirmation("The first?")},
                             {"second", Confirmation("The second?")}},
          .outcome = Says("Both are confirmed.")};
}

FixtureTasks::Job EchoInput(const CallContext& context, const Json&) {
  return {.outcome = Says(InputText(context))};
}

class FixtureResources final : public ResourceProvider {
 public:
  Outcome List(Context, std::string cursor) const override {
    Json resources = Json::array();
    // All are on the first page.
    for (const Json& contents : cursor.empty() ? Contents() : Json::array()) {
      resources.push_back({{"uri", contents["uri"]},
                           {"name", contents["uri"]},
                           {"mimeType", contents["mimeType"]}});
    }
    co_return Json{{"resources", std::move(resources)}};
  }

  Json Templates() const override {
    return Json::array({{{"uriTemplate", absl::StrCat(kPrefix, "{id}", kSuffix)},
                         {"name", "template"},
                         {"mimeType", "application/json"}}});
  }

  Outcome Read(Context, std::string uri) const override {
    for (const Json& contents : Contents()) {
      if (contents["uri"] == uri) co_return Json{{"contents", Json::array({contents})}};
    }
    absl::string_view id = uri;
    if (absl::ConsumePrefix(&id, kPrefix) && absl::ConsumeSuffix(&id, kSuffix)) {
      const std::string text = Dump({{"id", std::string(id)}});
      const Json contents = {{"uri", uri}, {"mimeType", "application/json"}, {"text", text}};
      co_return Json{{"contents", Json::array({contents})}};
    }
    co_return RpcError{JsonRpcCode::kResourceNotFound, "Resource not found.", Json{{"uri", uri}}};
  }

 private:
  static constexpr char kPrefix[] = "test://template/";
  static constexpr char kSuffix[] = "/data";

  static Json Contents() {
    const auto text = [](const char* uri, const char* words) {
      return Json{{"uri", uri}, {"mimeType", "text/plain"}, {"text", words}};
    };
    return Json::array(
        {text("test://static-text", "A text that stays."),
         text("test://watched-resource", "A text that could change."),
         {{"uri", "test://static-binary"}, {"mimeType", "image/png"}, {"blob", kPng}}});
  }
};

class FixturePrompts final : public PromptProvider {
 public:
  Json List() const override {
    Json prompts = Json::array();
    for (const auto& [name, prompt] : Prompts()) {
      Json arguments = Json::array();
      for (const char* argument : prompt.arguments) {
        arguments.push_back({{"name", argument}, {"required", true}});
      }
      prompts.push_back({{"name", name},
                         {"description", "A prompt for conformance tests."},
                         {"arguments", std::move(arguments)}});
    }
    return prompts;
  }

  RpcOutcome Get(const CallContext& context, const std::string& name) const override {
    const auto prompt = Prompts().find(name);
    if (prompt == Prompts().end()) return InvalidParams(absl::StrCat("Unknown prompt: ", name));
    const Json& arguments = Member(context.params(), "arguments");
    for (const char* argument : prompt->second.arguments) {
      if (Member(arguments, argument).is_string()) continue;
      return InvalidParams(absl::StrCat("params.arguments.", argument, " must be a string."));
    }
    if (name == kInputPrompt) {
      if (std::optional<RpcOutcome> question = rounds_.AskForRest(context)) return *question;
    }
    Json messages = Json::array();
    for (Json& content : prompt->second.make_content(context, arguments)) {
      messages.push_back({{"role", "user"}, {"content", std::move(content)}});
    }
    return Json{{"messages", std::move(messages)}};
  }

  RpcOutcome Complete(const Json& params) const override {
    const Json& ref = Member(params, "ref");
    if (Prompts().count(TextMember(ref, "name")) == 0) {
      return InvalidParams("params.ref names no prompt.");
    }
    const std::string typed = TextMember(Member(params, "argument"), "value");
    Json values = Json::array();
    for (const char* word : {"tea", "test", "testament"}) {
      if (absl::StartsWith(word, typed)) values.push_back(word);
    }
    const size_t total = values.size();
    return Json{
        {"completion", {{"values", std::move(values)}, {"total", total}, {"hasMore", false}}}};
  }

 private:
  static constexpr char kInputPrompt[] = "test_input_required_result_prompt";

  struct Prompt {
    std::vector<const char*> arguments;
    // One content for each message.
    std::vector<Json> (*make_content)(const CallContext& context, const Json& arguments);
  };

  static const std::map<std::string, Prompt>& Prompts() {
    static const auto& prompts = *new std::map<std::string, Prompt>{
        {"test_simple_prompt",
         {{}, [](const CallContext&, const Json&) { return std::vector{TextContent("A text.")}; }}},
        {"test_prompt_with_arguments",
         {{"arg1", "arg2"},
          [](const CallContext&, const Json& arguments) {
            return std::vector{TextContent(Dump(arguments))};
          }}},
        {"test_prompt_with_embedded_resource",
         {{"resourceUri"},
          [](const CallContext&, const Json& arguments) {
            return std::vector{ResourceContent(arguments["resourceUri"]),
                               TextContent("Read this resource.")};
          }}},
        {"test_prompt_with_image",
         {{},
          [](const CallContext&, const Json&) {
            return std::vector{ImageContent(), TextContent("Look at this image.")};
          }}},
        {kInputPrompt,
         {{},
          [](const CallContext& context, const Json&) {
            return std::vector{TextContent(InputText(context))};
          }}},
    };
    return prompts;
  }

  const InputRounds rounds_{/*sealed=*/false, {R"({"user_context": {
    "method": "elicitation/create", "params": {"mode": "form", "message": "In which context?",
      "requestedSchema": {"type": "object", "properties": {"context": {"type": "string"}}}}}})"}};
};

// The keywords of JSON Schema that have to reach the client unchanged.
constexpr char kRichSchema[] = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {"address": {"$anchor": "addressDef", "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
  "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"enum": ["phone", "email"]}, "phone": {"type": "string"},
    "email": {"type": "string"}},
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
})json";

// Forms of elicitation/create.
constexpr char kAccountForm[] = R"json({
  "mode": "form", "message": "", "requestedSchema": {"type": "object", "properties": {
    "username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"]}})json";
constexpr char kDefaultsForm[] = R"json({
  "mode": "form", "message": "Please review.", "requestedSchema": {"type": "object", "properties": {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": true}}}})json";
constexpr char kChoicesForm[] = R"json({
  "mode": "form", "message": "Please choose.", "requestedSchema": {"type": "object", "properties": {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First"},
      {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
      "enumNames": ["First", "Second", "Third"]},
    "untitledMulti": {"type": "array", "items": {"type": "string",
      "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First"},
      {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]}}}}})json";
constexpr char kSampling[] = R"json({
  "messages": [{"role": "user", "content": {"type": "text", "text": ""}}],
  "maxTokens": 100})json";

// The inputRequests of modern results.
constexpr char kAskName[] = R"json({"user_name": {"method": "elicitation/create", "params": {
  "mode": "form", "message": "What is your name?", "requestedSchema": {"type": "object",
  "properties": {"name": {"type": "string"}}, "required": ["name"]}}}})json";
constexpr char kAskColor[] = R"json({"color": {"method": "elicitation/create", "params": {
  "mode": "form", "message": "And your colour?", "requestedSchema": {"type": "object",
  "properties": {"color": {"type": "string"}}, "required": ["color"]}}}})json";
constexpr char kAskConfirmation[] = R"json({"confirm": {"method": "elicitation/create", "params": {
  "mode": "form", "message": "Is that right?", "requestedSchema": {"type": "object",
  "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}}})json";
constexpr char kAskModel[] = R"json({"capital": {"method": "sampling/createMessage", "params": {
  "messages": [{"role": "user", "content": {"type": "text", "text": "The capital of France?"}}],
  "maxTokens": 100}}})json";
constexpr char kAskRoots[] = R"json({"client_roots": {"method": "roots/list", "params": {}}})json";

// Merges the requests.
std::string Together(std::initializer_list<const char*> requests) {
  Json all = Json::object();
  for (const char* each : requests) all.update(Json::parse(each));
  return Dump(all);
}

class ToolAdder {
 public:
  explicit ToolAdder(McpCatalog& catalog) : catalog_(catalog) {}

  template <typename T, typename... Args>
  void Add(Args&&... args) {
    catalog_.tools.push_back(std::make_unique<T>(std::forward<Args>(args)...));
  }

 private:
  McpCatalog& catalog_;
};

void AddPlainTools(ToolAdder& tools) {
  const auto fixed = [&tools](const char* name, Json result) {
    tools.Add<FixedAnswer>(name, "Answers always the same.", std::move(result));
  };
  fixed("test_simple_text", Says("A text."));
  fixed("test_image_content", Content(ImageContent()));
  fixed("test_audio_content", Content(AudioContent()));
  fixed("test_embedded_resource", Content(ResourceContent("test://embedded-resource")));
  fixed("test_multiple_content_types", {{"content",
                                         {TextContent("Several."), ImageContent(),
                                          ResourceContent("test://mixed-content-resource")}}});
  fixed("test_error_handling", Fails("This tool fails, as it should."));
  fixed("test_reconnection", Says("Nobody had to reconnect."));
  fixed("test_streaming_elicitation", Says("Nobody was asked."));
  fixed("test_logging_tool", Says("Nothing was logged."));
  tools.Add<FixedAnswer>("json_schema_2020_12_tool", "Has a rich schema.", Says("Yes."),
                         kRichSchema);
  tools.Add<FixedAnswer>("test_custom_header", "Repeats an argument in a header.", Says("Yes."),
                         R"({"type": "object", "properties": {
                           "region": {"type": "string", "x-mcp-header": "Region"}}})");
  tools.Add<Script>("greet", "Says hello.", Greet,
                    R"({"type": "object", "properties": {"name": {"type": "string"}}})");
  tools.Add<Script>("test_tool_with_logging", "Logs.", WriteLog);
  tools.Add<Script>("test_tool_with_progress", "Makes progress.", MakeProgress);
  tools.Add<Script>("test_missing_capability", "Needs sampling.", NeedSampling);
}

void AddQuestions(ToolAdder& tools) {
  tools.Add<Question>("test_sampling", "sampling/createMessage", kSampling, "prompt",
                      "/messages/0/content/text");
  tools.Add<Question>("test_elicitation", "elicitation/create", kAccountForm, "message",
                      "/message");
  tools.Add<Question>("test_elicitation_sep1034_defaults", "elicitation/create", kDefaultsForm);
  tools.Add<Question>("test_elicitation_sep1330_enums", "elicitation/create", kChoicesForm);

  const std::string all = Together({kAskName, kAskModel, kAskRoots});
  const std::string two = Together({kAskName, kAskModel});
  const auto input = [&tools](const char* what, bool sealed,
                              std::initializer_list<const char*> rounds) {
    tools.Add<InputTool>(absl::StrCat("test_input_required_result_", what).c_str(), sealed, rounds);
  };
  input("elicitation", /*sealed=*/false, {kAskName});
  input("sampling", /*sealed=*/false, {kAskModel});
  input("list_roots", /*sealed=*/false, {kAskRoots});
  input("capabilities", /*sealed=*/false, {two.c_str()});
  input("request_state", /*sealed=*/true, {kAskConfirmation});
  input("tampered_state", /*sealed=*/true, {kAskConfirmation});
  input("multiple_inputs", /*sealed=*/true, {all.c_str()});
  input("multi_round", /*sealed=*/true, {kAskName, kAskColor});
}

void AddTaskTools(ToolAdder& tools, FixtureTasks* tasks) {
  tools.Add<TaskTool>(tasks, "slow_compute", "Takes its time.", Compute,
                      R"({"type": "object", "properties": {
                        "seconds": {"type": "number", "minimum": 0, "maximum": 3600},
                        "label": {"type": "string"}}})");
  tools.Add<TaskTool>(tasks, "failing_job", "Fails.", FailAsTool);
  tools.Add<TaskTool>(tasks, "protocol_error_job", "Breaks.", FailAsProtocol);
  tools.Add<TaskTool>(tasks, "confirm_delete", "Wants a confirmation.", ConfirmOnce,
                      R"({"type": "object", "properties": {"filename": {"type": "string"}}})");
  tools.Add<TaskTool>(tasks, "multi_input", "Wants two confirmations.", ConfirmTwice);
  tools.Add<TaskTool>(tasks, "test_tool_with_task", "Asks for input, then becomes a task.",
                      EchoInput, kNoArguments, InputRounds(/*sealed=*/false, {kAskName}));
}

}  // namespace

void AddConformanceFixtures(Clock* clock, std::function<void(const std::string& list)> announce,
                            McpCatalog& catalog) {
  auto tasks = std::make_unique<FixtureTasks>(clock);
  ToolAdder tools(catalog);
  AddPlainTools(tools);
  AddQuestions(tools);
  AddTaskTools(tools, tasks.get());
  tools.Add<Announcement>("test_trigger_tool_change", "tools", announce);
  tools.Add<Announcement>("test_trigger_prompt_change", "prompts", announce);
  catalog.resources.push_back(std::make_unique<FixtureResources>());
  catalog.prompts = std::make_unique<FixturePrompts>();
  catalog.tasks = std::move(tasks);
  catalog.announces_lists = true;
}

}  // namespace callslip::gateway
