// The agents' side of ModelDriver: registering, reading, listing and ending commands.
#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "model/command_model_driver.h"

namespace callslip::tracker {

void ModelDriver::DoRegister(const Op& op) { RegisterRequest(op.slot, RequestOf(op)); }

void ModelDriver::DoRepeat(const Op& op) {
  const auto known = requests_.find(op.of);
  if (known == requests_.end()) return;
  CommandRequest request = known->second;
  switch (op.flaw) {
    case 1: request.label = "another label"; break;
    case 2: request.type = "scroll"; break;
    case 3: request.params = std::make_shared<const std::string>("{\"other\":1}"); break;
    case 4: request.priority = request.priority == 7 ? 8 : 7; break;
    case 5: request.idempotent = !request.idempotent; break;
    case 6:
      // The same request in another form.
      if (request.client_id == "local") request.client_id = "";
      if (request.target == "browser") request.target = "";
      if (request.params == nullptr) request.params = std::make_shared<const std::string>("{}");
      break;
    case 7: request.target = request.target == "scanner" ? "printer" : "scanner"; break;
    case 8: request.ordering_key = "another key"; break;
    default: break;
  }
  RegisterRequest(op.slot, request);
}

void ModelDriver::DoReplay(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const std::string request_id = op.request_id == 0 ? "" : absl::StrCat("replay ", op.request_id);
  const auto answer = table_.Replay(Client(op), IdOf(*command, op.slot), request_id, now_);
  const std::optional<ObservedRegistration> observed = Note(op.slot, answer);
  if (observed.has_value() && !observed->existed) {
    CommandRequest asked = model_.commands()[static_cast<size_t>(*command)].request;
    asked.request_id = request_id;
    asked.not_before = absl::InfinitePast();
    CheckSpec(*answer->command->spec, asked);
    if (answer->command->spec->replay_of() != known_[static_cast<size_t>(*command)].id.ToString()) {
      model_.Disagree("replay_of does not name the old command");
    }
  }
  model_.Replay(kClients[static_cast<size_t>(op.client)], *command, request_id, now_,
                answer.status(), observed);
  Settle();
}

void ModelDriver::DoGet(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const auto answer = table_.Get(Client(op), IdOf(*command, op.slot), op.peek);
  model_.Get(kClients[static_cast<size_t>(op.client)], *command, op.peek, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

void ModelDriver::DoList(const Op& op) {
  Page next{.op = op};
  int after = -1;
  std::string token;
  if (op.of == kMadeUp) {
    const auto answer = table_.List(Client(op), {}, op.page_size, "no token of ours");
    if (OutcomeOf(answer.status()) != "INVALID_ARGUMENT invalid_page_token") {
      model_.Disagree("a made-up page token is accepted");
    }
    return;
  }
  if (op.of >= 0) {
    const auto before = pages_.find(op.of);
    if (before == pages_.end()) return;
    token = before->second.token;
    after = before->second.last;
    next.op = before->second.op;
  }
  const CommandFilter filter = FilterOf(next.op);
  const auto answer = table_.List(Client(next.op), filter, next.op.page_size, token);
  if (!answer.ok()) return model_.Disagree(absl::StrCat("List: ", OutcomeOf(answer.status())));
  std::vector<int> listed;
  for (const CommandPtr& command : answer->commands) {
    const auto number = numbers_.find(command->spec->id);
    listed.push_back(number == numbers_.end() ? -1 : number->second);
  }
  model_.List(kClients[static_cast<size_t>(next.op.client)], filter, next.op.page_size, after,
              listed, !answer->next_page_token.empty());
  if (failed()) return;
  for (size_t i = 0; i < listed.size(); ++i) {
    model_.CheckView(listed[i], ViewOf(*answer->commands[i]), answer->commands[i]->revision);
  }
  if (answer->next_page_token.empty()) return;
  next.token = answer->next_page_token;
  next.last = listed.back();
  pages_[op.slot] = next;
  page_slots_.push_back(op.slot);
}

void ModelDriver::DoCancel(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const auto answer = table_.Cancel(Client(op), IdOf(*command, op.slot), now_);
  model_.Cancel(kClients[static_cast<size_t>(op.client)], *command, now_, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

void ModelDriver::DoExpire(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  CommandError error;
  if (op.slot % 3 != 0) {
    error = {.code = op.slot % 3 == 1 ? "tab_gone" : std::string(kMaxErrorCodeBytes + 9, 'c'),
             .message = "The tab was closed.",
             .hint = "Open it."};
  }
  const auto answer = table_.Expire(Client(op), IdOf(*command, op.slot), error, now_);
  model_.Expire(kClients[static_cast<size_t>(op.client)], *command, error, now_, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

// Registering.

CommandRequest ModelDriver::RequestOf(const Op& op) const {
  CommandRequest request;
  request.client_id = Client(op);
  request.target = Target(op);
  request.type = "click";
  request.params = JsonOf(static_cast<size_t>(op.params_bytes), op.slot);
  if (op.request_id != 0) request.request_id = absl::StrCat("request ", op.request_id);
  request.label = kLabels[static_cast<size_t>(op.label)];
  request.ordering_key = kKeys[static_cast<size_t>(op.key)];
  request.command_class = op.human ? CommandClass::kHuman : CommandClass::kStandard;
  request.idempotent = op.idempotent;
  request.priority = op.priority;
  if (op.not_before_ms != 0) request.not_before = now_ + absl::Milliseconds(op.not_before_ms);
  request.deadlines = OverridesOf(op.clocks);
  switch (op.flaw) {
    case 1: request.type = ""; break;
    case 2: request.type = std::string(kMaxTypeBytes + 1, 't'); break;
    case 3: request.priority = kMaxPriority + 1; break;
    case 4: request.label = std::string(kMaxNameBytes + 1, 'l'); break;
    case 5: request.not_before = now_ + kMaxDelay + absl::Milliseconds(500); break;
    case 6: request.ordering_key = std::string(kMaxNameBytes + 1, 'k'); break;
    default: break;
  }
  return request;
}

void ModelDriver::RegisterRequest(int slot, const CommandRequest& request) {
  requests_.emplace(slot, request);
  const auto answer = table_.Register(CommandRequest(request), now_);
  const std::optional<ObservedRegistration> observed = Note(slot, answer);
  CommandRequest named = request;
  if (named.client_id.empty()) named.client_id = "local";
  if (named.target.empty()) named.target = "browser";
  if (observed.has_value() && !observed->existed) CheckSpec(*answer->command->spec, named);
  model_.Register(named, now_, answer.status(), observed);
  Settle();
}

std::optional<ObservedRegistration> ModelDriver::Note(
    int slot, const absl::StatusOr<CommandRegistration>& answer) {
  if (!answer.ok()) {
    const ErrorDetails details = DetailsOf(answer.status());
    if (answer.status().code() == absl::StatusCode::kResourceExhausted &&
        !details.retry_after.has_value()) {
      model_.Disagree("a refusal does not say when to come again");
    }
    return std::nullopt;
  }
  const CommandSnapshot& command = *answer->command;
  const auto [entry, is_new] =
      numbers_.try_emplace(command.spec->id, static_cast<int>(known_.size()));
  if (is_new) {
    known_.push_back({.id = command.spec->id, .slot = slot});
    commands_by_slot_[slot] = entry->second;
    if (command.revision != 1) model_.Disagree("revisions do not start at 1");
  }
  return ObservedRegistration{
      .command = entry->second,
      .existed = answer->existed,
      .partition = command.spec->id.partition(),
      .params_bytes = command.spec->params ? static_cast<int64_t>(command.spec->params->size()) : 0,
      .view = ViewOf(command),
      .clocks = *command.spec->deadlines};
}

void ModelDriver::CheckSpec(const CommandSpec& spec, const CommandRequest& request) {
  const std::string params = spec.params == nullptr ? "{}" : *spec.params;
  const std::string asked = request.params == nullptr ? "{}" : *request.params;
  if (spec.client_id() != request.client_id || spec.target() != request.target ||
      spec.type() != request.type || params != asked || spec.request_id() != request.request_id ||
      spec.label() != request.label || spec.ordering_key() != request.ordering_key ||
      spec.command_class != request.command_class || spec.idempotent != request.idempotent ||
      spec.priority != request.priority || spec.register_time != now_ ||
      spec.ready_time() != std::max(now_, request.not_before)) {
    model_.Disagree("the command is not what was asked for");
  }
  const bool human = request.command_class == CommandClass::kHuman;
  if (absl::StartsWith(spec.id.ToString(), "ann_") != human) {
    model_.Disagree("the id has the wrong prefix");
  }
}

}  // namespace callslip::tracker
