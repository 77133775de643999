#include "tracker/domain/annotation/annotation_store.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

constexpr char kCommandType[] = "annotations";

absl::Status CompleteAndCheck(std::string& client_id, AnnotationQuery& query) {
  if (client_id.empty()) client_id = kDefaultClient;
  if (query.target.empty()) query.target = kDefaultTarget;
  RETURN_IF_ERROR(CheckName("client_id", client_id));
  RETURN_IF_ERROR(CheckName("target", query.target));
  RETURN_IF_ERROR(CheckName("session", query.session));
  if (query.tab_id.value_or(0) < 0) return InvalidField("tab_id", "must not be negative");
  query.client_id = client_id;
  return absl::OkStatus();
}

absl::Status CompleteAndCheck(Drawing& drawing, const std::vector<std::string>& command_ids) {
  if (drawing.target.empty()) drawing.target = kDefaultTarget;
  RETURN_IF_ERROR(CheckName("drawing.target", drawing.target));
  RETURN_IF_ERROR(CheckName("drawing.session", drawing.session));
  if (drawing.tab_id < 0) return InvalidField("drawing.tab_id", "must not be negative");
  if (drawing.content == nullptr || drawing.content->empty()) {
    return InvalidField("drawing.content", "is required");
  }
  if (drawing.content->size() > kMaxDrawingBytes) {
    return DrawingTooLarge(drawing.content->size(), kMaxDrawingBytes);
  }
  if (command_ids.size() > kMaxNamedCommands) {
    return InvalidField("command_ids", absl::StrCat("has ", command_ids.size(), " ids, at most ",
                                                    kMaxNamedCommands, " are accepted"));
  }
  Cut(drawing.url, kMaxUrlBytes);
  Cut(drawing.title, kMaxTitleBytes);
  return absl::OkStatus();
}

CommandRequest CommandFor(const AnnotationRequest& request, std::string subject) {
  CommandRequest command;
  command.client_id = request.client_id;
  command.target = request.query.target;
  command.type = kCommandType;
  command.subject = std::move(subject);
  command.params = request.params;
  command.request_id = request.request_id;
  command.label = request.label;
  command.command_class = CommandClass::kHuman;
  command.deadlines.result_retention = kAnnotationResultRetention;
  return command;
}

// A page token is the sequence number of the previous page's last drawing.
absl::StatusOr<uint64_t> SequenceBefore(const std::string& page_token) {
  uint64_t sequence = std::numeric_limits<uint64_t>::max();
  if (!page_token.empty() && !absl::SimpleAtoi(page_token, &sequence)) return InvalidPageToken();
  return sequence;
}

absl::Duration RetentionOf(const Drawing& drawing) {
  return drawing.session.empty() ? kTabDrawingRetention : kSessionDrawingRetention;
}

}  // namespace

std::string AnnotationStore::SubjectOf(const AnnotationQuery& query) {
  const std::string tab = query.tab_id.has_value() ? absl::StrCat(*query.tab_id) : "*";
  return absl::StrCat(tab, "/", query.session);
}

std::optional<AnnotationQuery> AnnotationStore::QueryOf(const CommandSpec& command) {
  if (command.type() != kCommandType || command.subject().empty()) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(command.subject(), absl::MaxSplits('/', 1));
  AnnotationQuery query{.client_id = std::string(command.client_id()),
                        .target = std::string(command.target()),
                        .session = std::string(parts.second)};
  int64_t tab_id = 0;
  if (absl::SimpleAtoi(parts.first, &tab_id)) query.tab_id = tab_id;
  return query;
}

// As many of the latest drawings as fit into one result. The JSON array is all that this code knows
// of the format.
AnnotationStore::SessionResult AnnotationStore::ListOf(
    const std::vector<DrawingPtr>& newest_first) {
  SessionResult result;
  std::vector<absl::string_view> contents;
  size_t bytes = 1;  // The brackets, and a comma after each but the last.
  for (const DrawingPtr& drawing : newest_first) {
    bytes += drawing->content->size() + 1;
    if (bytes > kMaxResultBytes) break;
    contents.push_back(*drawing->content);
    result.sequences.push_back(drawing->sequence);
  }
  absl::c_reverse(contents);
  result.list =
      std::make_shared<const std::string>(absl::StrCat("[", absl::StrJoin(contents, ","), "]"));
  return result;
}

bool AnnotationStore::Kept::IsCollectedBy(absl::string_view client_id) const {
  return absl::c_any_of(receipts, [&](const Receipt& receipt) {
    return receipt.client_id == client_id &&
           (receipt.command == nullptr || receipt.command->is_read());
  });
}

absl::StatusOr<CommandRegistration> AnnotationStore::Request(AnnotationRequest request,
                                                             absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheck(request.client_id, request.query));
  RETURN_IF_ERROR(CheckRoom(request, now));
  ASSIGN_OR_RETURN(CommandRegistration registration,
                   commands_->Register(CommandFor(request, SubjectOf(request.query)), now));
  const Spec command = registration.command->spec;
  const std::string id = command->id.ToString();
  const Payload result = registration.existed ? nullptr : TakeOrWait(request.query, command);
  if (result != nullptr) {
    RETURN_IF_ERROR(commands_->Complete(id, {}, CommandResult{result}, nullptr, now).status());
  }
  // The caller receives the present state, which collects a result.
  if (result != nullptr || registration.existed) {
    ASSIGN_OR_RETURN(registration.command, commands_->Get(request.client_id, id, request.peek));
  }
  return registration;
}

absl::Status AnnotationStore::CheckRoom(const AnnotationRequest& request, absl::Time now) {
  MutexLock lock(&mutex_);
  DropOldLocked(now);
  if (FindNewLocked(request.query, request.client_id) != nullptr) return absl::OkStatus();
  const auto is_clients = [&](const Waiter& waiter) {
    return waiter.command->client_id() == request.client_id;
  };
  if (absl::c_count_if(waiters_, is_clients) >= limits_.waiters_of_client) {
    // Cancelled ones are still counted: remove them.
    std::erase_if(waiters_, [&](const Waiter& waiter) {
      if (!is_clients(waiter)) return false;
      const auto command =
          commands_->Get(request.client_id, waiter.command->id.ToString(), /*peek=*/true);
      return !command.ok() || IsTerminal((*command)->state);
    });
  }
  if (absl::c_count_if(waiters_, is_clients) >= limits_.waiters_of_client) {
    return TooManyWaiters(limits_.waiters_of_client, true);
  }
  if (static_cast<int64_t>(waiters_.size()) >= limits_.waiters) {
    return TooManyWaiters(limits_.waiters, false);
  }
  return absl::OkStatus();
}

Payload AnnotationStore::TakeOrWait(const AnnotationQuery& query, const Spec& command,
                                    absl::Time wait_until) {
  const Receipt receipt = {std::string(command->client_id()), command};
  MutexLock lock(&mutex_);
  Kept* kept = FindNewLocked(query, receipt.client_id);
  if (kept == nullptr) {
    const absl::Time end = command->ready_time() + command->deadlines->human_schedule_to_close;
    waiters_.push_back({command, query, std::max(end, wait_until)});
    return nullptr;
  }
  SessionResult taken = {kept->drawing->content, {kept->drawing->sequence}};
  if (!query.session.empty()) taken = OfSessionLocked(query, nullptr);
  for (const uint64_t sequence : taken.sequences) AddReceiptLocked(sequence, receipt);
  JournalLocked();
  return taken.list;
}

absl::StatusOr<DrawingPage> AnnotationStore::List(std::string client_id, AnnotationQuery query,
                                                  int page_size, const std::string& page_token,
                                                  absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheck(client_id, query));
  if (page_size < 0) return InvalidField("page_size", "must not be negative");
  size_t most = kMaxDrawingsOfPage;
  if (page_size > 0) most = std::min(most, static_cast<size_t>(page_size));
  ASSIGN_OR_RETURN(const uint64_t before, SequenceBefore(page_token));
  DrawingPage page;
  int64_t bytes = 0;
  MutexLock lock(&mutex_);
  DropOldLocked(now);
  for (auto next = drawings_.lower_bound(before); next != drawings_.begin();) {
    --next;
    Kept& kept = next->second;
    if (!query.Matches(*kept.drawing)) continue;
    bytes += kept.drawing->bytes();
    const bool full =
        page.drawings.size() == most || (!page.drawings.empty() && bytes > kMaxBytesOfPage);
    if (full) {
      page.next_page_token = absl::StrCat(page.drawings.back()->sequence);
      break;
    }
    page.drawings.push_back(kept.drawing);
  }
  JournalLocked();
  return page;
}

void AnnotationStore::Collect(const std::string& client_id,
                              const std::vector<DrawingPtr>& drawings) {
  MutexLock lock(&mutex_);
  for (const DrawingPtr& drawing : drawings) {
    AddReceiptLocked(drawing->sequence, {client_id, nullptr});
  }
  JournalLocked();
}

absl::StatusOr<AppendedDrawing> AnnotationStore::Append(Drawing drawing,
                                                        const std::vector<std::string>& command_ids,
                                                        const std::string& drawing_id,
                                                        absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheck(drawing, command_ids));
  RETURN_IF_ERROR(CheckName("drawing_id", drawing_id));
  if (journal_ != nullptr && !journal_->accepts_commands()) return StorageUnavailable();
  const std::string whose = WhoseOf(drawing);
  uint64_t sequence = 0;
  const auto append = [&] {
    return AppendNew(std::move(drawing), drawing_id, command_ids, now, sequence);
  };
  AppendedDrawing appended =
      drawing_id.empty() ? append() : memory_.Once(whose, drawing_id, now, append);
  // Only now, with the answer in the journal: until then a restart would repeat this.
  NoteCompleted(sequence);
  return appended;
}

AppendedDrawing AnnotationStore::AppendNew(Drawing drawing, const std::string& drawing_id,
                                           const std::vector<std::string>& command_ids,
                                           absl::Time now, uint64_t& sequence) {
  AppendedDrawing appended;
  const ClientScope clients = drawing.clients;
  std::vector<Completion> completions;
  {
    MutexLock lock(&mutex_);
    DropOldLocked(now);
    drawing.sequence = sequence = commands_->NewSequence();
    drawing.append_time = now;
    const DrawingPtr kept = std::make_shared<const Drawing>(std::move(drawing));
    appended.stored = KeepLocked(kept, drawing_id);
    completions = TakeWaitersLocked(kept, appended.stored, command_ids);
    if (appended.stored) {
      std::vector<std::string>& to_complete = drawings_.at(sequence).to_complete;
      for (const Completion& completion : completions) {
        to_complete.push_back(completion.command_id);
      }
      changed_.insert(sequence);
    }
    JournalLocked();
  }
  std::vector<Spec> ended_before;
  for (Completion& completion : completions) {
    const auto completed =
        commands_->Complete(completion.command_id, {.clients = clients},
                            CommandResult{std::move(completion.result)}, nullptr, now);
    if (completed.ok() && completed->accepted) {
      appended.completed.push_back(std::move(completion.command_id));
    } else if (completion.command != nullptr) {
      ended_before.push_back(std::move(completion.command));
    }
  }
  if (!ended_before.empty()) ForgetReceipts(ended_before);
  return appended;
}

void AnnotationStore::NoteCompleted(uint64_t sequence) {
  MutexLock lock(&mutex_);
  const auto it = drawings_.find(sequence);
  if (it == drawings_.end() || it->second.to_complete.empty()) return;
  it->second.to_complete.clear();
  changed_.insert(sequence);
  JournalLocked();
}

bool AnnotationStore::KeepLocked(const DrawingPtr& drawing, const std::string& drawing_id) {
  size_t in_session = 0;
  int64_t bytes_in_session = 0;
  size_t of_client = 0;
  int64_t bytes_of_client = 0;
  for (auto it = drawings_.begin(); it != drawings_.end();) {
    const Drawing& other = *it->second.drawing;
    const bool together = other.target == drawing->target && other.session == drawing->session &&
                          other.clients == drawing->clients;
    if (together && drawing->session.empty() && other.tab_id == drawing->tab_id) {
      // The latest drawing of a tab replaces the one before.
      it = DropLocked(it);
      continue;
    }
    if (together && !drawing->session.empty()) {
      ++in_session;
      bytes_in_session += other.bytes();
    }
    if (other.clients == drawing->clients) {
      ++of_client;
      bytes_of_client += other.bytes();
    }
    ++it;
  }
  const bool fits =
      drawings_.size() < limits_.drawings && bytes_ + drawing->bytes() <= limits_.bytes &&
      of_client < limits_.drawings_of_client &&
      bytes_of_client + drawing->bytes() <= limits_.bytes_of_client &&
      in_session < limits_.drawings_of_session &&
      (drawing->session.empty() || bytes_in_session + drawing->bytes() <= limits_.bytes_of_session);
  if (!fits) return false;
  bytes_ += drawing->bytes();
  drawings_.emplace(drawing->sequence, Kept{drawing, drawing_id, {}, {}});
  return true;
}

std::vector<AnnotationStore::Completion> AnnotationStore::TakeWaitersLocked(
    const DrawingPtr& drawing, bool stored, const std::vector<std::string>& command_ids) {
  // Ids that are not found below do not wait here.
  std::vector<CommandId> named;
  for (const std::string& text : command_ids) {
    const std::optional<CommandId> id = CommandId::Parse(text);
    if (!id.has_value() || !id->is_annotation() || absl::c_linear_search(named, *id)) continue;
    named.push_back(*id);
  }
  // Waiters for the same drawings share one list, which can be megabytes.
  std::map<std::pair<std::optional<int64_t>, std::string>, SessionResult> of_session;
  std::vector<Completion> completions;
  std::vector<Waiter> others;
  for (Waiter& waiter : waiters_) {
    const bool is_named = drawing->clients.Covers(waiter.query.client_id) &&
                          std::erase(named, waiter.command->id) > 0;
    const bool matches = waiter.query.Matches(*drawing);
    if (!is_named && !matches) {
      others.push_back(std::move(waiter));
      continue;
    }
    const Receipt receipt = {std::string(waiter.command->client_id()), waiter.command};
    Payload result = drawing->content;
    if (matches && !waiter.query.session.empty()) {
      SessionResult& shared = of_session[{waiter.query.tab_id, waiter.query.client_id}];
      if (shared.list == nullptr) {
        shared = OfSessionLocked(waiter.query, stored ? nullptr : drawing);
      }
      for (const uint64_t sequence : shared.sequences) AddReceiptLocked(sequence, receipt);
      result = shared.list;
    } else {
      AddReceiptLocked(drawing->sequence, receipt);
    }
    completions.push_back({waiter.command->id.ToString(), std::move(result), waiter.command});
  }
  waiters_ = std::move(others);
  for (const CommandId id : named)
    completions.push_back({id.ToString(), drawing->content, nullptr});
  return completions;
}

AnnotationStore::Kept* AnnotationStore::FindNewLocked(const AnnotationQuery& query,
                                                      absl::string_view client_id) {
  for (auto next = drawings_.end(); next != drawings_.begin();) {
    --next;
    Kept& kept = next->second;
    if (query.Matches(*kept.drawing) && !kept.IsCollectedBy(client_id)) return &kept;
  }
  return nullptr;
}

AnnotationStore::SessionResult AnnotationStore::OfSessionLocked(const AnnotationQuery& query,
                                                                const DrawingPtr& unkept) {
  std::vector<DrawingPtr> newest_first;
  if (unkept != nullptr) newest_first.push_back(unkept);
  for (auto next = drawings_.end(); next != drawings_.begin();) {
    --next;
    if (query.Matches(*next->second.drawing)) newest_first.push_back(next->second.drawing);
  }
  return ListOf(newest_first);
}

void AnnotationStore::AddReceiptLocked(uint64_t sequence, const Receipt& receipt) {
  const auto it = drawings_.find(sequence);
  if (it == drawings_.end()) return;  // A drawing that is not stored.
  if (it->second.IsCollectedBy(receipt.client_id)) return;
  std::vector<Receipt>& receipts = it->second.receipts;
  if (absl::c_linear_search(receipts, receipt)) return;
  if (receipts.size() >= limits_.receipts_of_drawing) receipts.erase(receipts.begin());
  receipts.push_back(receipt);
  changed_.insert(sequence);
}

void AnnotationStore::ForgetReceipts(const std::vector<Spec>& commands) {
  MutexLock lock(&mutex_);
  for (auto& [sequence, kept] : drawings_) {
    const size_t forgotten = std::erase_if(kept.receipts, [&](const Receipt& receipt) {
      return receipt.command != nullptr && absl::c_linear_search(commands, receipt.command);
    });
    if (forgotten > 0) changed_.insert(sequence);
  }
  JournalLocked();
}

AnnotationStore::KeptDrawings::iterator AnnotationStore::DropLocked(KeptDrawings::iterator it) {
  bytes_ -= it->second.drawing->bytes();
  if (journal_ != nullptr) journal_->Append({it->first, DrawingRemoval()});
  return drawings_.erase(it);
}

void AnnotationStore::DropOldLocked(absl::Time now) {
  for (auto it = drawings_.begin(); it != drawings_.end();) {
    const Drawing& drawing = *it->second.drawing;
    const bool old = drawing.append_time + RetentionOf(drawing) <= now;
    it = old ? DropLocked(it) : std::next(it);
  }
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.until <= now; });
}

void AnnotationStore::JournalLocked() {
  for (const uint64_t sequence : std::exchange(changed_, {})) {
    const auto it = drawings_.find(sequence);
    if (journal_ == nullptr || it == drawings_.end()) continue;
    Kept& kept = it->second;
    DrawingRecord record{kept.drawing, kept.drawing_id, {}, kept.to_complete};
    for (const auto& [client_id, command] : kept.receipts) {
      const bool is_listed = command == nullptr;
      record.receipts.push_back({client_id, is_listed ? std::nullopt : std::optional(command->id)});
    }
    journal_->Append({sequence, std::move(record), !std::exchange(kept.is_journaled, true)});
  }
}

int64_t AnnotationStore::drawings() {
  MutexLock lock(&mutex_);
  return static_cast<int64_t>(drawings_.size());
}

int64_t AnnotationStore::bytes() {
  MutexLock lock(&mutex_);
  return bytes_;
}

int64_t AnnotationStore::waiters() {
  MutexLock lock(&mutex_);
  return static_cast<int64_t>(waiters_.size());
}

}  // namespace callslip::tracker
