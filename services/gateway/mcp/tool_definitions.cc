#include "gateway/mcp/tool_definitions.h"

namespace callslip::gateway {

namespace {

// What structuredContent of all tools looks like. Said of those that are called most: each saying
// costs a model 80 tokens.
constexpr char kOutputSchema[] = R"json({
  "type": "object",
  "properties": {
    "status": {"enum": ["queued", "pending", "complete", "error", "timeout", "expired", "cancelled"]},
    "final": {"type": "boolean"},
    "correlation_id": {"type": "string"},
    "result": {},
    "error": {"type": "string"},
    "hint": {"type": "string"},
    "may_have_executed": {"type": "boolean"}
  },
  "required": ["status", "final"]
})json";

Json WithOutputSchema(const char* definition) {
  Json json = Json::parse(definition);
  json["outputSchema"] = Json::parse(kOutputSchema);
  return json;
}

}  // namespace

const Json& InteractDefinition() {
  static const auto& definition = *new Json(WithOutputSchema(R"json({
    "name": "interact",
    "title": "Act in the browser",
    "description": "Hands an action to the user's browser and returns its correlation_id at once. Set wait_ms to get the result in the same call; otherwise observe {what: 'command_result', correlation_id} while final is false.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "action": {
          "enum": ["execute_js", "navigate", "back", "forward", "reload", "get_page", "query", "click", "type", "select", "press", "hover", "scroll", "wait_for", "screenshot", "console", "network", "list_tabs", "open_tab", "close_tab", "draw_mode", "cancel"],
          "description": "draw_mode: the user marks the page. cancel: a command"
        },
        "script": {"type": "string", "description": "execute_js: its value is the result"},
        "url": {"type": "string", "description": "navigate, open_tab"},
        "selector": {"type": "string", "description": "CSS"},
        "text": {"type": "string", "description": "type, query, wait_for"},
        "clear": {"type": "boolean", "description": "type: empty first"},
        "value": {"type": "string", "description": "select"},
        "values": {"type": "array", "items": {"type": "string"}},
        "label": {"type": "string"},
        "key": {"type": "string", "description": "press: Enter, Control+A"},
        "x": {"type": "integer", "description": "scroll"},
        "y": {"type": "integer"},
        "dx": {"type": "integer"},
        "dy": {"type": "integer"},
        "state": {"enum": ["visible", "hidden", "attached"]},
        "full_page": {"type": "boolean"},
        "background": {"type": "boolean"},
        "level": {"enum": ["debug", "log", "info", "warn", "error"]},
        "url_contains": {"type": "string"},
        "limit": {"type": "integer", "description": "query, console, network"},
        "session": {"type": "string", "description": "draw_mode"},
        "message": {"type": "string"},
        "correlation_id": {"type": "string", "description": "cancel"},
        "tab_id": {"type": "integer", "description": "Default: active tab"},
        "target": {"type": "string", "description": "Which browser, of observe workers"},
        "wait_ms": {"type": "integer", "maximum": 30000},
        "timeout_ms": {"type": "integer", "minimum": 100, "maximum": 120000, "description": "Default 10000"},
        "request_id": {"type": "string", "description": "Makes repeats safe"}
      },
      "required": ["action"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": false, "destructiveHint": true}
  })json"));
  return definition;
}

const Json& ObserveDefinition() {
  static const auto& definition = *new Json(WithOutputSchema(R"json({
    "name": "observe",
    "title": "See what became of commands",
    "description": "command_result: the result of a command; while final is false, call again. pending_commands: all recent commands. failed_commands: the failures and why.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["command_result", "pending_commands", "failed_commands", "workers", "browser_log", "health"]},
        "kind": {"type": "string"},
        "client": {"type": "string"},
        "session": {"type": "string", "description": "mine, or listed"},
        "correlation_id": {"type": "string"},
        "wait_ms": {"type": "integer", "maximum": 55000, "description": "At most 30000; for ann_ ids 55000, their default"}
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
    "description": "page: its title, URL and text. annotations: the user's drawings and notes on it; wait asks for new ones. Answers as interact does.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["page", "annotations"]},
        "wait": {"type": "boolean"},
        "session": {"type": "string"},
        "message": {"type": "string"},
        "tab_id": {"type": "integer"},
        "target": {"type": "string"},
        "wait_ms": {"type": "integer", "maximum": 30000},
        "timeout_ms": {"type": "integer"},
        "request_id": {"type": "string"}
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
    "description": "new: has another agent do message, in a session of its own; agents: which there are. answer: what it said last, after wait_ms. read: events after after_seq, or the last. enqueue: next message. wait: until all turns end, or any. permit: answer what it asks. end: when done.",
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
        "wait_ms": {"type": "integer", "maximum": 30000}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"destructiveHint": false}
  })json"));
  return definition;
}

}  // namespace callslip::gateway
