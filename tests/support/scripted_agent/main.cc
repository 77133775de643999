// A scripted agent for tests: version 1 of the Agent Client Protocol on stdin and stdout, with all
// misbehaviours of real agents that were seen.
//
//   callslip-scripted-agent [OPTIONS]      OPTIONS: a JSON object, all members are optional
//
//   "initialize": "never" | "auth" | "version"   never answers; requires a login for sessions;
//                                                answers with version 2
//   "new": "never" | "early"                     never answers; sends a text and its commands
//                                                before its answer
//   "restore": "resume" | "load" | "late" | "never" | "fails"   how it restores a session. By load
//                                                it repeats two updates, with `late` after its
//                                                answer. Without it: not at all. By load, too:
//              "asks" | "asks and fails"         reads a file first, and asks for permission;
//                                                then asks again and answers with an error
//   "no_http": true, "no_images": true           takes no MCP servers over HTTP; no images
//   "login": FILE                                requires a login for sessions until FILE exists.
//                                                Of its login methods on a terminal, `tui` makes
//                                                FILE, and `broken` exits with 3. Clients with
//                                                "terminal-auth" also get the method `program`
//   "program": NAME                              the program of that method, instead of this one
//   "modes": true                                has two modes and two settings
//   "sessions": FILE                             where it stores its sessions
//   "log": FILE                                  every line that it receives
//   "at": {METHOD: WAY}                          what it does on a request of METHOD: "never":
//                                                nothing, "void": an answer without a result,
//                                                "garbage": an invalid result, "error",
//                                                "limit": the error of a rate limit, or "exit"
//   "delay": {METHOD: MS}                        how long it takes to answer METHOD
//   "ignores": ["cancel", "eof", "term"]
//   "noise": N                                   N lines of all sorts before its first message
//
// A prompt is its script: a JSON array of steps, one member each. Any other text is repeated in two
// pieces, with a tool call between them.
//
//   {"say": TEXT} {"think": TEXT} {"update": {…}}   sends an update; {"id": TEXT} beside a text is
//                                                   the id of its message
//   {"update_as": ID}                               sends an update as a request with this id
//   {"ask": {toolCall…}, "options": […]}            asks for permission, and says the answer;
//                                                   {"withdraw": MS} beside: cancels the request
//   {"call": METHOD, "params": {…}}                 calls fs/* or terminal/*, and says the answer
//   {"say_times": true}                             says {"read": NS, "write": NS}: the times of
//                                                   the prompt and this text, by the steady clock
//   {"count": N, "every_us": US}                    says 0 to N-1, one each US µs
//   {"sleep": MS}                                   a cancel ends it
//   {"noise": N} {"line": MIB} {"stderr": MIB}      lines that are not messages; a long line; much
//                                                   text on stderr
//   {"spawn": "setsid" | "double"}                  a process in another session, for a minute
//   {"say_env": true} {"say_mcp": true}             says its variables' names; its MCP servers
//   {"exit": CODE} {"kill": SIGNAL}                 ends the process
//   {"close": "stdin" | "stdout"}                   closes one side, and continues to run
//   {"error": {code, message}} {"stop": REASON}     how the turn ends; else with end_turn
//   {"answer": "never" | "twice"} {"late": TEXT}    ends only at a cancel; ends twice; a text after
//                                                   the end
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/acp/line_splitter.h"
#include "runner/acp/message.h"

extern char** environ;

namespace callslip::runner {
namespace {

using SteadyClock = std::chrono::steady_clock;

class ScriptedAgent {
 public:
  explicit ScriptedAgent(Json options) : options_(std::move(options)) {}

  // The run of a terminal login: prints a question, and with code 0 makes the login file.
  int LogIn(const std::string& code) {
    const char* const asked = getenv("SCRIPTED_LOGIN");
    if (asked == nullptr || std::string(asked) != "yes") return 4;
    std::puts("Who are you?");
    if (code == "0") std::ofstream(LoginFile()) << getenv("TERM") << '\n';
    return std::atoi(code.c_str());
  }

  int Run() {
    if (Ignores("term")) signal(SIGTERM, SIG_IGN);
    if (options_.contains("noise")) Noise(options_["noise"].get<int>());
    while (Pump(-1)) {
      while (!prompts_.empty()) {
        const Message prompt = std::move(prompts_.front());
        prompts_.erase(prompts_.begin());
        Play(prompt);
      }
    }
    while (Ignores("eof")) pause();
    return 0;
  }

 private:
  bool Is(const char* option, const char* value) const {
    return options_.contains(option) && options_[option] == value;
  }
  bool Ignores(const char* what) const {
    if (!options_.contains("ignores")) return false;
    for (const Json& each : options_["ignores"]) {
      if (each == what) return true;
    }
    return false;
  }

  std::string LoginFile() const { return options_["login"].get<std::string>(); }

  static void Write(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t count = write(STDOUT_FILENO, bytes.data() + done, bytes.size() - done);
      if (count <= 0) _exit(0);
      done += static_cast<size_t>(count);
    }
  }

  // Processes the input that comes within `wait_ms`, once; false at its end.
  bool Pump(int wait_ms) {
    pollfd in = {STDIN_FILENO, POLLIN, 0};
    if (poll(&in, 1, wait_ms) <= 0) return true;
    char buffer[1 << 16];
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (count <= 0) return false;
    lines_.Feed({buffer, static_cast<size_t>(count)},
                [this](absl::string_view line) { Take(line); });
    return true;
  }
  // Until `is_done`, or for `ms`.
  void PumpUntil(const std::function<bool()>& is_done, std::optional<int> ms = std::nullopt) {
    const auto until = SteadyClock::now() + std::chrono::milliseconds(ms.value_or(0));
    while (!is_done()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
      if (ms.has_value() && left.count() <= 0) return;
      if (!Pump(ms.has_value() ? static_cast<int>(left.count()) : -1)) {
        while (Ignores("eof")) pause();
        _exit(0);
      }
    }
  }

  void Take(absl::string_view line) {
    if (options_.contains("log")) {
      std::ofstream(options_["log"].get<std::string>(), std::ios::app) << line << '\n';
    }
    std::optional<Message> message = ParseMessage(line);
    if (!message.has_value()) return;
    if (message->kind == Message::Kind::kResponse) {
      answered_ = true;
      answer_ = message->error.has_value() ? Json{{"error", message->error->message}}
                                           : std::move(message->result);
    } else if (message->method == "session/cancel") {
      is_cancelled_ = !Ignores("cancel");
    } else if (message->kind == Message::Kind::kRequest && Fails(*message)) {
    } else if (message->method == "session/prompt") {
      read_time_ = SteadyClock::now();
      prompts_.push_back(*std::move(message));
    } else if (message->kind == Message::Kind::kRequest) {
      TakeRequest(*message);
    }
  }

  // Does what "at" and "delay" say for this request; true if it must not be answered as usual.
  bool Fails(const Message& request) const {
    const Json at = options_.value("at", Json::object());
    const std::string what = at.value(request.method, "");
    if (what == "exit") _exit(7);
    if (what == "void") Write(Json({{"jsonrpc", "2.0"}, {"id", request.id}}).dump() + "\n");
    if (what == "garbage") Write(FormatResult(request.id, Json::array({1, "two", nullptr})));
    if (what == "error") Write(FormatError(request.id, {kInternalError, "no luck", nullptr}));
    if (what == "limit") Write(FormatError(request.id, {429, "too many requests", nullptr}));
    const Json delay = options_.value("delay", Json::object());
    poll(nullptr, 0, delay.value(request.method, 0));
    return !what.empty();
  }

  void TakeRequest(const Message& request) {
    const std::string& method = request.method;
    if (method == "initialize") return Initialize(request);
    if (method == "session/new") return New(request);
    if (method == "session/load" || method == "session/resume") return Restore(request);
    if (method == "session/set_config_option") {
      for (Json& option : config_) {
        if (option["id"] == request.params["configId"])
          option["currentValue"] = request.params["value"];
      }
      return Answer(request, {{"configOptions", config_}});
    }
    if (method == "session/set_mode" || method == "session/close" || method == "authenticate") {
      return Answer(request, Json::object());
    }
    Write(FormatError(request.id, {kMethodNotFound, method, nullptr}));
  }

  static void Answer(const Message& request, Json result) {
    Write(FormatResult(request.id, std::move(result)));
  }

  void Initialize(const Message& request) {
    if (Is("initialize", "never")) return;
    Json sessions = {{"close", Json::object()}, {"additionalDirectories", Json::object()}};
    if (Is("restore", "resume") || Is("restore", "fails")) sessions["resume"] = Json::object();
    Answer(request, {{"protocolVersion", Is("initialize", "version") ? 2 : 1},
                     {"agentCapabilities",
                      {{"loadSession", Is("restore", "load") || Is("restore", "late") ||
                                           Is("restore", "never") || Is("restore", "asks") ||
                                           Is("restore", "asks and fails")},
                       {"promptCapabilities", {{"image", !options_.contains("no_images")}}},
                       {"mcpCapabilities", {{"http", !options_.contains("no_http")}}},
                       {"sessionCapabilities", sessions}}},
                     {"agentInfo", {{"name", "scripted"}, {"version", "1"}}},
                     {"authMethods", AuthMethods(request.params)}});
  }

  Json AuthMethods(const Json& params) const {
    Json methods = Json::array({{{"id", "by-hand"}, {"name", "By hand"}}});
    if (!options_.contains("login")) return methods;
    for (const auto& [id, code] : {std::pair("tui", "0"), std::pair("broken", "3")}) {
      methods.push_back({{"type", "terminal"},
                         {"id", id},
                         {"name", "On the terminal"},
                         {"args", {"login", code}},
                         {"env", {{"SCRIPTED_LOGIN", "yes"}}}});
    }
    const Json::json_pointer knows("/clientCapabilities/_meta/terminal-auth");
    if (params.contains(knows) && params[knows] == true) {
      const Json how = {{"command", options_.value("program", "callslip-scripted-agent")},
                        {"args", {options_.dump(), "login", "0"}},
                        {"env", {{"SCRIPTED_LOGIN", "yes"}}}};
      methods.push_back({{"id", "program"},
                         {"name", "A program"},
                         {"description", "Run it"},
                         {"_meta", {{"terminal-auth", how}}}});
    }
    return methods;
  }

  Json NewAnswer(Json answer) {
    if (!options_.contains("modes")) return answer;
    answer["modes"] = {{"currentModeId", "ask"},
                       {"availableModes", Json::array({{{"id", "ask"}, {"name", "Ask"}},
                                                       {{"id", "act"}, {"name", "Act"}}})}};
    answer["configOptions"] = config_;
    return answer;
  }

  void New(const Message& request) {
    if (Is("new", "never")) return;
    if (Is("initialize", "auth") ||
        (options_.contains("login") && access(LoginFile().c_str(), F_OK) != 0)) {
      return Write(FormatError(request.id, {kAuthRequired, "log in first", nullptr}));
    }
    mcp_ = request.params["mcpServers"];
    const std::string id = "s-" + std::to_string(getpid()) + "-" + std::to_string(++sessions_);
    if (options_.contains("sessions")) {
      std::ofstream(options_["sessions"].get<std::string>(), std::ios::app) << id << '\n';
    }
    if (Is("new", "early")) {
      Say(id, "early");
      Update(id,
             {{"sessionUpdate", "available_commands_update"},
              {"availableCommands", Json::array({{{"name", "plan"}, {"description", "Plans"}}})}});
    }
    Answer(request, NewAnswer({{"sessionId", id}}));
  }

  void Restore(const Message& request) {
    if (Is("restore", "never")) return;
    const std::string id = request.params["sessionId"];
    mcp_ = request.params["mcpServers"];
    bool is_known = false;
    if (options_.contains("sessions")) {
      std::ifstream file(options_["sessions"].get<std::string>());
      for (std::string line; std::getline(file, line);) is_known = is_known || line == id;
    }
    if (!is_known || Is("restore", "fails")) {
      return Write(FormatError(request.id, {kInternalError, "Session not found", nullptr}));
    }
    if (Is("restore", "asks") || Is("restore", "asks and fails")) {
      Request("fs/read_text_file", {{"sessionId", id}, {"path", "/tmp/any"}});
      Ask(id, {{"ask", {{"title", "Begin"}}}});
    }
    if (Is("restore", "asks and fails")) {
      Write(FormatRequest(++requests_, "session/request_permission",
                          {{"sessionId", id}, {"toolCall", {{"title", "Again"}}}}));
      return Write(FormatError(request.id, {kInternalError, "no luck", nullptr}));
    }
    if (Is("restore", "late")) Answer(request, NewAnswer(Json::object()));
    if (request.method == "session/load") {
      Say(id, "repeated");
      Update(id, {{"sessionUpdate", "available_commands_update"},
                  {"availableCommands", Json::array({{{"name", "help"}}})}});
      Say(id, "repeated too");
    }
    if (!Is("restore", "late")) Answer(request, NewAnswer(Json::object()));
  }

  void Update(const std::string& session, Json update) {
    Write(FormatNotification("session/update",
                             {{"sessionId", session}, {"update", std::move(update)}}));
  }
  void Say(const std::string& session, const std::string& text, const Json& step = nullptr,
           const char* kind = "agent_message_chunk") {
    Json update = {{"sessionUpdate", kind}, {"content", {{"type", "text"}, {"text", text}}}};
    if (step.is_object() && step.contains("id")) update["messageId"] = step["id"];
    Update(session, std::move(update));
  }

  static void Noise(int lines) {
    static const char* const kNoise[] = {"Warning: a library is old",
                                         "42",
                                         "\"text\"",
                                         "[1,2]",
                                         "\x1b[31mred\x1b[0m",
                                         "\xff\xfe\xfd",
                                         "{\"a\":1}",
                                         "null",
                                         "{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}",
                                         "{"};
    for (int i = 0; i < lines; ++i) {
      Write(std::string(kNoise[static_cast<size_t>(i) % std::size(kNoise)]) + "\n");
    }
  }

  // A child that leaves this process's session, and ends after a minute.
  static void Spawn(bool twice) {
    if (fork() != 0) return;
    setsid();
    if (twice && fork() != 0) _exit(0);
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }

  void Ask(const std::string& session, const Json& step) {
    Json params = {{"sessionId", session}, {"toolCall", step["ask"]}};
    params["options"] = step.value(
        "options", Json::array({{{"optionId", "yes"}, {"name", "Yes"}, {"kind", "allow_once"}},
                                {{"optionId", "no"}, {"name", "No"}, {"kind", "reject_once"}}}));
    if (!step.contains("withdraw")) {
      const Json answer = Request("session/request_permission", std::move(params));
      return Say(session, "answered " + answer.dump());
    }
    answered_ = false;
    Write(FormatRequest(++requests_, "session/request_permission", std::move(params)));
    PumpUntil([this] { return answered_; }, step["withdraw"].get<int>());
    Write(FormatNotification("$/cancel_request", {{"requestId", requests_}}));
    PumpUntil([this] { return answered_; });
    Say(session, "withdrew it");
  }

  Json Request(const char* method, Json params) {
    answer_ = nullptr;
    Write(FormatRequest(++requests_, method, std::move(params)));
    answered_ = false;
    PumpUntil([this] { return answered_; });
    return std::exchange(answer_, nullptr);
  }

  void Play(const Message& prompt) {
    is_cancelled_ = false;
    const std::string session = prompt.params["sessionId"];
    std::string text;
    for (const Json& block : prompt.params["prompt"]) {
      if (block["type"] == "text") text += block["text"].get<std::string>();
      if (block["type"] == "image") text += " [" + block["mimeType"].get<std::string>() + "]";
    }
    const Json script = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!script.is_array()) return Repeat(prompt, session, text);
    Json end = {{"stopReason", "end_turn"}};
    std::optional<Json> error;
    std::string answer;
    std::string late;
    for (const Json& step : script) {
      if (is_cancelled_) break;
      PlayStep(session, step);
      if (step.contains("error")) error = step["error"];
      if (step.contains("stop")) end["stopReason"] = step["stop"];
      if (step.contains("answer")) answer = step["answer"];
      if (step.contains("late")) late = step["late"];
    }
    if (answer == "never") PumpUntil([this] { return is_cancelled_; });
    if (is_cancelled_) end["stopReason"] = "cancelled";
    if (error.has_value() && !is_cancelled_) {
      Write(FormatError(prompt.id,
                        {(*error)["code"], (*error)["message"], error->value("data", Json())}));
    } else {
      Answer(prompt, end);
    }
    if (answer == "twice") Answer(prompt, end);
    if (!late.empty()) Say(session, late);
  }

  void PlayStep(const std::string& session, const Json& step) {
    if (step.contains("say")) Say(session, step["say"], step);
    if (step.contains("think")) Say(session, step["think"], step, "agent_thought_chunk");
    if (step.contains("update")) Update(session, step["update"]);
    if (step.contains("update_as")) {
      const Json content = {{"type", "text"}, {"text", "numbered"}};
      Write(FormatRequest(
          step["update_as"], "session/update",
          {{"sessionId", session},
           {"update", {{"sessionUpdate", "agent_message_chunk"}, {"content", content}}}}));
    }
    if (step.contains("ask")) Ask(session, step);
    if (step.contains("call")) {
      Json params = step["params"];
      params["sessionId"] = session;
      Say(session, Request(step["call"].get<std::string>().c_str(), params).dump());
    }
    if (step.contains("sleep"))
      PumpUntil([this] { return is_cancelled_; }, step["sleep"].get<int>());
    if (step.contains("say_times")) {
      Say(session, Json{{"read", read_time_.time_since_epoch().count()},
                        {"write", SteadyClock::now().time_since_epoch().count()}}
                       .dump());
    }
    if (step.contains("count")) Count(session, step["count"], step["every_us"]);
    if (step.contains("noise")) Noise(step["noise"]);
    if (step.contains("line")) Write(std::string(step["line"].get<size_t>() << 20, 'x'));
    if (step.contains("stderr")) {
      const std::string words(size_t{1} << 20, 'e');
      for (int i = 0; i < step["stderr"].get<int>(); ++i) std::fputs(words.c_str(), stderr);
    }
    if (step.contains("spawn")) Spawn(step["spawn"] == "double");
    if (step.contains("say_mcp")) Say(session, mcp_.dump());
    if (step.contains("say_env")) {
      std::string names;
      for (char** each = environ; *each != nullptr; ++each) {
        names += std::string(*each).substr(0, std::string(*each).find('=')) + " ";
      }
      Say(session, names);
    }
    if (step.contains("close")) {
      close(step["close"] == "stdin" ? STDIN_FILENO : STDOUT_FILENO);
      for (;;) pause();
    }
    if (step.contains("exit")) _exit(step["exit"]);
    if (step.contains("kill")) raise(step["kill"]);
  }

  void Count(const std::string& session, int count, int every_us) {
    const auto begin = SteadyClock::now();
    for (int i = 0; i < count && !is_cancelled_; ++i) {
      const auto left = begin + i * std::chrono::microseconds(every_us) - SteadyClock::now();
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(left);
      if (wait.count() > 0) {
        PumpUntil([this] { return is_cancelled_; }, static_cast<int>(wait.count()));
      }
      Say(session, std::to_string(i) + " ");
    }
  }

  void Repeat(const Message& prompt, const std::string& session, const std::string& text) {
    const std::string tool = "t-" + std::to_string(++requests_);
    Say(session, text.substr(0, text.size() / 2));
    Update(session, {{"sessionUpdate", "tool_call"},
                     {"toolCallId", tool},
                     {"title", "Think"},
                     {"kind", "think"},
                     {"status", "in_progress"},
                     {"rawInput", {{"about", text}}}});
    Update(session, {{"sessionUpdate", "tool_call_update"},
                     {"toolCallId", tool},
                     {"status", "completed"},
                     {"rawOutput", {{"length", text.size()}}}});
    Say(session, text.substr(text.size() / 2));
    Answer(prompt, {{"stopReason", "end_turn"}});
  }

  const Json options_;
  LineSplitter lines_;
  std::vector<Message> prompts_;
  Json answer_;  // To the agent's last request.
  bool answered_ = false;
  SteadyClock::time_point read_time_;  // Of the last prompt.
  Json mcp_;
  Json config_ = Json::array(
      {{{"id", "model"},
        {"name", "Model"},
        {"category", "model"},
        {"type", "select"},
        {"currentValue", "small"},
        {"options", Json::array({{{"value", "small"}, {"name", "Small"}},
                                 {{"value", "large"}, {"name", "Large"}}})}},
       {{"id", "brief"}, {"name", "Brief"}, {"type", "boolean"}, {"currentValue", false}}});
  bool is_cancelled_ = false;
  int sessions_ = 0;
  int64_t requests_ = 0;
};

}  // namespace
}  // namespace callslip::runner

int main(int argc, char** argv) {
  using callslip::runner::Json;
  Json options =
      argc > 1 ? Json::parse(argv[1], nullptr, /*allow_exceptions=*/false) : Json::object();
  if (!options.is_object()) {
    std::fputs("usage: callslip-scripted-agent ['{\"initialize\": …}']\n", stderr);
    return 2;
  }
  callslip::runner::ScriptedAgent agent(std::move(options));
  if (argc > 3 && std::string(argv[2]) == "login") return agent.LogIn(argv[3]);
  return agent.Run();
}
