// Types of the API, documented in docs/sessions.md. Members that a gateway can omit are optional.

export type Json = null | boolean | number | string | Json[] | {[name: string]: Json};
export type JsonObject = {[name: string]: Json};

export interface Me {
  name: string;
  role: string;
  may_act: boolean;
  sees_all_clients: boolean;
  tokens: boolean;
  version: string;
  extension_dir?: string;
}

export interface AgentState {
  status: 'none' | 'waiting' | 'starting' | 'idle' | 'prompting' | 'needs_permission' | 'stopping' |
    'stopped' | 'failed';
  reason?: string;
  message?: string;
  runner_id?: string;
  details?: AgentDetails;
}

// Named as in the Agent Client Protocol.
export interface AgentDetails {
  modes?: {currentModeId?: string; availableModes?: {id: string; name: string; description?: string}[]};
  config_options?: ConfigOption[];
  commands?: {name: string; description?: string}[];
  agent_info?: {name?: string; version?: string};
  usage?: JsonObject;
}
export interface ConfigOption {
  id: string;
  name?: string;
  description?: string;
  type?: string;
  currentValue?: string | boolean;
  options?: ConfigValue[];
}
// A value, or a group of values.
export interface ConfigValue {
  value?: string;
  name?: string;
  options?: ConfigValue[];
}

export interface Session {
  session_id: string;
  name: string;
  client_id?: string;
  acp_server: string;
  working_dir: string;
  status: 'active' | 'completed';
  end_reason?: string;
  archived: boolean;
  created_at: string;
  updated_at: string;
  event_count: number;
  max_seq: number;
  queue_length: number;
  turn_id?: string;
  pause_reason?: string;
  open_permissions?: number;
  parent_session_id?: string;
  detached?: boolean;
  agent?: AgentState;
  damage?: string;
}

export interface SessionEvent {
  seq: number;
  timestamp: string;
  type: string;
  data: JsonObject;
  omitted_bytes?: number;
}
export interface EventPage {
  events: SessionEvent[];
  has_more: boolean;
  first_seq: number;
  last_seq: number;
  max_seq: number;
  length: number;
}

export interface QueuedMessage {
  id: string;
  message: string;
  image_ids: string[];
  queued_at: string;
  client_id?: string;
  prompt_id?: string;
  turn_id?: string;
}
export interface QueueState {
  length: number;
  enabled: boolean;
  delay_seconds: number;
  settings?: {enabled?: boolean; delay_seconds?: number};
  paused: boolean;
  pause_reason?: string;
  pause_message?: string;
  turn_id?: string;
  turn_message_id?: string;
  send_at?: string;
  has_receiver: boolean;
}

export interface PermissionOption {
  option_id: string;
  name: string;
  kind: string;
}
export interface Permission {
  permission_id: string;
  title: string;
  options: PermissionOption[];
  asked_at: string;
  status: 'open' | 'answered' | 'cancelled';
  selected_option?: string;
  tool_call_id?: string;
  kind?: string;
  details?: JsonObject;
}

export interface AgentText {
  iteration: number;
  offset: number;
  text: string;
}

export interface AgentOffer {
  name: string;
  title?: string;
  problem?: string;
}
export interface Workspace {
  name: string;
  dir: string;
  agents?: string[];
}

// A WebSocket message; events also have seq and timestamp.
export interface Told {
  type: string;
  data: JsonObject;
  seq?: number;
  timestamp?: string;
}
