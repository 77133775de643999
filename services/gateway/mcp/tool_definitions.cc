#include "gateway/mcp/tool_definitions.h"

namespace callslip::gateway {

namespace {

// What structuredContent of all tools looks like.
constexpr char kOutputSchema[] = R"json({
  "type": "object",
  "properties": {
    "status": {"enum": ["queued", "pending", "complete", "error", "timeout", "expired", "cancelled"]},
    "final": {"type": "boolean", "description": "false: observe again"},
    "correlation_id": {"type": "string"},
    "result": {},
    "error": {"type": "string"},
    "message": {"type": "string"},
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
    "description": "Hands an action to the user's browser and returns its correlation_id at once. Set wait_ms to get the result in the same call; otherwise read it with observe {what: 'command_result', correlation_id}.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "action": {
          "enum": ["execute_js", "navigate", "get_page", "click", "type", "screenshot", "cancel"],
          "description": "get_page: title, URL and text. cancel: ends the command correlation_id"
        },
        "script": {"type": "string", "description": "execute_js: its value, awaited, is the result"},
        "url": {"type": "string", "description": "navigate"},
        "selector": {"type": "string", "description": "click, type: CSS selector"},
        "text": {"type": "string", "description": "type"},
        "clear": {"type": "boolean", "description": "type: empty the field first"},
        "correlation_id": {"type": "string", "description": "cancel"},
        "tab_id": {"type": "integer", "minimum": 0, "description": "Default: the active tab"},
        "wait_ms": {"type": "integer", "minimum": 0, "maximum": 30000, "description": "How long to wait for the result"},
        "timeout_ms": {"type": "integer", "minimum": 100, "maximum": 120000, "description": "How long the action may run; default 10000"},
        "request_id": {"type": "string", "maxLength": 128, "description": "Repeat a call safely: the same request_id is the same command"}
      },
      "required": ["action"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}
  })json"));
  return definition;
}

const Json& ObserveDefinition() {
  static const auto& definition = *new Json(WithOutputSchema(R"json({
    "name": "observe",
    "title": "See what became of commands",
    "description": "command_result: the result of one command; while status is pending, call again. pending_commands: all recent commands. failed_commands: the failures and why.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["command_result", "pending_commands", "failed_commands"]},
        "correlation_id": {"type": "string", "description": "command_result"},
        "wait_ms": {"type": "integer", "minimum": 0, "maximum": 55000, "description": "command_result: how long to wait for the end; at most 30000, for ann_ ids 55000 (their default)"}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": true, "openWorldHint": false}
  })json"));
  return definition;
}

const Json& AnalyzeDefinition() {
  static const auto& definition = *new Json(WithOutputSchema(R"json({
    "name": "analyze",
    "title": "Look at the page",
    "description": "page: title, URL and text of the page. Answers as interact does.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "what": {"enum": ["page"]},
        "tab_id": {"type": "integer", "minimum": 0},
        "wait_ms": {"type": "integer", "minimum": 0, "maximum": 30000},
        "timeout_ms": {"type": "integer", "minimum": 100, "maximum": 120000},
        "request_id": {"type": "string", "maxLength": 128}
      },
      "required": ["what"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": true, "openWorldHint": true}
  })json"));
  return definition;
}

}  // namespace callslip::gateway
