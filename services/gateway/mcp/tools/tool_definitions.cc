#include "gateway/mcp/tools/tool_definitions.h"

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

Json WithOutputSchema(const char* definition) {
  Json json = Json::parse(definition);
  json["outputSchema"] = Json::parse(kOutputSchema);
  return json;
}

}  // namespace

// Has no annotations, because MCP's defaults apply: it writes, may destroy, and reaches the outside
// world. Omits older names and arguments, which browser_actions.cc still accepts.
const Json& InteractDefinition() {
  static const auto& definition = *new Json(WithOutputSchema(R"json({
    "name": "interact",
    "title": "Act in the browser",
    "description": "Acts in the user's browser and answers what changed on the page. Set wait_ms to get that in the same call; otherwise observe {what: 'command_result', correlation_id} while final is false.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "action": {
          "enum": ["click", "fill", "type", "press", "hover", "drag", "scroll", "select_text", "upload", "wait_for", "navigate", "back", "forward", "reload", "open_tab", "close_tab", "execute_js", "batch", "draw_mode", "cancel"],
          "description": "draw_mode: the user marks the page"
        },
        "selector": {"type": "string", "description": "Ref (e12) of analyze page, or CSS"},
        "fields": {"type": "object", "description": "fill: {e9: 'Ada', e16: 'Germany', e27: true}"},
        "text": {"type": "string", "description": "type, select_text, wait_for"},
        "key": {"type": "string", "description": "press: Enter, Control+A, ArrowDown*3 Tab"},
        "x": {"type": "integer", "description": "click, hover, drag: in the view, or in selector. scroll: to"},
        "y": {"type": "integer"},
        "to": {"type": "string", "description": "drag: ref, CSS, '300,120' or '+0,-40'"},
        "how": {"type": "string", "description": "click: double, right, Control"},
        "dialog": {"type": "string", "description": "Answer to confirm and prompt: accept, dismiss (default), text"},
        "files": {"type": "array", "items": {"type": "string"}, "description": "upload: paths"},
        "steps": {"type": "array", "items": {"type": "object"}, "description": "batch: calls like this, in order"},
        "script": {"type": "string", "description": "execute_js: its value is the result"},
        "url": {"type": "string", "description": "navigate, open_tab, wait_for"},
        "state": {"enum": ["visible", "hidden", "attached"]},
        "view": {"enum": ["changes", "page", "none"]},
        "session": {"type": "string"},
        "message": {"type": "string"},
        "correlation_id": {"type": "string", "description": "cancel"},
        "tab_id": {"type": "integer", "description": "Default: active tab"},
        "target": {"type": "string", "description": "Which browser, of observe workers"},
        "wait_ms": {"type": "integer", "maximum": 30000},
        "timeout_ms": {"type": "integer", "description": "Default 10000"},
        "request_id": {"type": "string", "description": "Makes repeats safe"}
      },
      "required": ["action"],
      "additionalProperties": false
    }
  })json"));
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
  static const auto& definition = *new Json(Json::parse(R"json({
    "name": "analyze",
    "title": "Look at the page",
    "description": "page: outline with refs, or that of selector. find: its lines with text. annotations: the user's drawings and notes; wait asks for new ones. Answers as interact does.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["page", "find", "screenshot", "console", "network", "tabs", "annotations"]},
        "selector": {"type": "string"},
        "text": {"type": "string"},
        "view": {"enum": ["all", "interactive", "text", "urls"]},
        "after": {"type": "string", "description": "page: continue after this ref"},
        "limit": {"type": "integer"},
        "full_page": {"type": "boolean"},
        "marks": {"type": "boolean", "description": "screenshot: show refs"},
        "wait": {"type": "boolean"},
        "session": {"type": "string"},
        "message": {"type": "string"},
        "tab_id": {"type": "integer"},
        "target": {"type": "string"},
        "wait_ms": {"type": "integer"},
        "timeout_ms": {"type": "integer"}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": true}
  })json"));
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
