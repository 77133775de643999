#include "gateway/mcp/tools/tool_definitions.h"

#include <initializer_list>
#include <utility>

#include "gateway/mcp/tools/browser_actions.h"
#include "gateway/mcp/tools/browser_fields.h"

namespace callslip::gateway {

namespace {

// The schema of every tool's structuredContent. Declared only by the most frequently called tool,
// because each declaration costs a model tokens.
constexpr char kOutputSchema[] = R"json({
  "type": "object",
  "properties": {
    "status": {"type": "string"},
    "final": {"type": "boolean"},
    "result": {}
  },
  "required": ["status", "final"]
})json";

// What models should know about an argument, by name. The table of actions has its type.
using Descriptions = std::initializer_list<std::pair<const char*, const char*>>;

// Adds the arguments of the listed actions to `definition`. `choice` is the argument that names the
// action, as `name_of` does; null is no action of this tool.
void AddActions(Json& definition, const char* choice, Descriptions descriptions,
                const char* (*name_of)(const BrowserAction& action)) {
  Json& properties = definition["inputSchema"]["properties"];
  Json names = Json::array();
  for (const BrowserAction& action : BrowserActions()) {
    if (!action.listed || name_of(action) == nullptr) continue;
    names.push_back(name_of(action));
    for (const BrowserAction::Field& field : action.fields) {
      if (field.listed) properties.emplace(field.name, SchemaOf(field));
    }
  }
  Json& known = properties[choice]["enum"];
  known.insert(known.begin(), names.begin(), names.end());
  for (const auto& [name, description] : descriptions) {
    properties.at(name)["description"] = description;
  }
}

}  // namespace

// Has no annotations, because MCP's defaults apply: it writes, may destroy, and reaches the outside
// world.
const Json& InteractDefinition() {
  static const auto& definition = *new Json([] {
    Json json = Json::parse(R"json({
    "name": "interact",
    "title": "Act in the browser",
    "description": "Acts in the user's browser and answers what changed on the page. Set wait_ms to get that in the same call; otherwise observe {what: 'command_result', correlation_id} while final is false.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "action": {"enum": ["cancel"], "description": "draw_mode: the user marks the page"},
        "correlation_id": {"type": "string", "description": "cancel"},
        "target": {"type": "string", "description": "Which browser, of observe workers"},
        "wait_ms": {"type": "integer", "maximum": 30000},
        "timeout_ms": {"type": "integer", "description": "Default 10000"},
        "request_id": {"type": "string", "description": "Makes repeats safe"}
      },
      "required": ["action"],
      "additionalProperties": false
    }
  })json");
    AddActions(json, "action",
               {{"selector", "Ref (e12) of analyze page, or CSS"},
                {"fields", "fill: {e9: 'Ada', e16: 'Germany', e27: true}"},
                {"text", "type, select_text, wait_for"},
                {"key", "press: Enter, Control+A, ArrowDown*3 Tab"},
                {"x", "In the view, or in selector. scroll: to"},
                {"to", "drag: ref, CSS, '300,120' or '+0,-40'"},
                {"how", "click: double, right, Control"},
                {"dialog", "Answer to confirm and prompt: accept, dismiss (default), text"},
                {"files", "upload: paths"},
                {"steps", "batch: calls like this, in order"},
                {"script", "execute_js: its value is the result"},
                {"url", "navigate, open_tab, wait_for"},
                {"tab_id", "Default: active tab"}},
               [](const BrowserAction& action) {
                 return action.subject == nullptr ? action.name : nullptr;
               });
    json["outputSchema"] = Json::parse(kOutputSchema);
    return json;
  }());
  return definition;
}

const Json& ObserveDefinition() {
  static const auto& definition = *new Json(Json::parse(R"json({
    "name": "observe",
    "title": "See what became of commands",
    "description": "command_result: the result of a command; while final is false, call again. pending_commands: all recent ones. failed_commands: why they failed.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["command_result", "pending_commands", "failed_commands", "workers", "browser_log", "health"]},
        "kind": {"type": "string"},
        "session": {"type": "string", "description": "mine, or listed"},
        "correlation_id": {"type": "string"},
        "wait_ms": {"type": "integer", "maximum": 55000, "description": "At most 30000; ann_ ids: 55000, their default"}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": true, "openWorldHint": false}
  })json"));
  return definition;
}

const Json& AnalyzeDefinition() {
  static const auto& definition = *new Json([] {
    Json json = Json::parse(R"json({
    "name": "analyze",
    "title": "Look at the page",
    "description": "page: outline with refs, or that of selector. find: its lines with text. annotations: the user's drawings and notes; wait asks for new ones. Answers as interact does.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["annotations"]},
        "wait": {"type": "boolean"},
        "session": {"type": "string"},
        "message": {"type": "string"},
        "target": {"type": "string"},
        "wait_ms": {"type": "integer"},
        "timeout_ms": {"type": "integer"}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": true}
  })json");
    AddActions(json, "what",
               {{"after", "page: continue after this ref"}, {"marks", "screenshot: show refs"}},
               [](const BrowserAction& action) { return action.subject; });
    return json;
  }());
  return definition;
}

const Json& SessionDefinition() {
  static const auto& definition = *new Json(Json::parse(R"json({
    "name": "session",
    "title": "Other agents' sessions",
    "description": "read: events after after_seq, or the last. enqueue: message for its agent. wait: until its turn ends.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["list", "read", "enqueue", "wait"]},
        "session_id": {"type": "string"},
        "after_seq": {"type": "integer"},
        "limit": {"type": "integer"},
        "message": {"type": "string"},
        "wait_ms": {"type": "integer"}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"destructiveHint": false}
  })json"));
  return definition;
}

const Json& SessionDefinitionForAgent() {
  static const auto& definition = *new Json(Json::parse(R"json({
    "name": "session",
    "title": "Other agents' sessions",
    "description": "new: another agent does message, in a session of its own; agents: which there are. answer: what it said last. read: events after after_seq, or the last. enqueue: next message. wait: until all turns end, or any. permit: answers it. end: when done.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["list", "new", "agents", "answer", "read", "enqueue", "wait", "stop", "permit", "end"]},
        "session_id": {"type": "string"},
        "session_ids": {"type": "array", "items": {"type": "string"}},
        "any": {"type": "boolean"},
        "agent": {"type": "string"},
        "workspace": {"type": "string"},
        "name": {"type": "string"},
        "detach": {"type": "boolean"},
        "permission_id": {"type": "string"},
        "option_id": {"type": "string"},
        "after_seq": {"type": "integer"},
        "limit": {"type": "integer"},
        "message": {"type": "string"},
        "wait_ms": {"type": "integer"}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"destructiveHint": false}
  })json"));
  return definition;
}

}  // namespace callslip::gateway
