#include "tracker/rpc/rpc_access.h"

#include "absl/algorithm/container.h"

namespace callslip::tracker {
namespace {

using Kind = RpcAccess::Kind;

constexpr RoleSet kClients = {Role::kClient};
constexpr RoleSet kReaders = {Role::kClient, Role::kViewer};
constexpr RoleSet kReadersAndRunners = {Role::kClient, Role::kViewer, Role::kRunner};
constexpr RoleSet kClientsAndRunners = {Role::kClient, Role::kRunner};
// A runner works off the shell commands of its sessions.
constexpr RoleSet kWorkers = {Role::kWorker, Role::kRunner};
constexpr RoleSet kBrowsers = {Role::kWorker};
constexpr RoleSet kRunners = {Role::kRunner};
constexpr RoleSet kViewers = {Role::kViewer};

constexpr RpcAccess kTable[] = {
    {"grpc.health.v1.Health.Check", Kind::kOpen, {}},
    {"grpc.health.v1.Health.Watch", Kind::kOpen, {}},
    {"callslip.tracker.v1.AdminService.GetHealth", Kind::kReads, kViewers},
    {"callslip.tracker.v1.AnnotationService.RequestAnnotations", Kind::kActs, kClients},
    {"callslip.tracker.v1.AnnotationService.AppendAnnotations", Kind::kActs, kBrowsers},
    {"callslip.tracker.v1.AnnotationService.ListAnnotations", Kind::kReads, kReaders},
    {"callslip.tracker.v1.CommandService.RegisterCommand", Kind::kActs, kClients},
    {"callslip.tracker.v1.CommandService.GetCommand", Kind::kReads, kReaders},
    {"callslip.tracker.v1.CommandService.ListCommands", Kind::kReads, kReaders},
    {"callslip.tracker.v1.CommandService.WaitForCommand", Kind::kReads, kReaders},
    {"callslip.tracker.v1.CommandService.WatchCommands", Kind::kReads, kReaders},
    {"callslip.tracker.v1.CommandService.CancelCommand", Kind::kActs, kClients},
    {"callslip.tracker.v1.CommandService.ExpireCommand", Kind::kActs, kClients},
    {"callslip.tracker.v1.CommandService.ReplayCommand", Kind::kActs, kClients},
    {"callslip.tracker.v1.CommandService.LeaseCommands", Kind::kActs, kWorkers},
    {"callslip.tracker.v1.CommandService.StreamCommands", Kind::kActs, kWorkers},
    {"callslip.tracker.v1.CommandService.AcknowledgeCommand", Kind::kActs, kWorkers},
    {"callslip.tracker.v1.CommandService.CompleteCommand", Kind::kActs, kWorkers},
    {"callslip.tracker.v1.QueueService.AddMessage", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.GetMessage", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.QueueService.ListMessages", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.QueueService.EditMessage", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.MoveMessage", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.PopMessage", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.DeleteMessage", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.ClearMessages", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.GetQueueStatus", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.QueueService.ConfigureQueue", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.PauseQueue", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.QueueService.ResumeQueue", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.StopTurn", Kind::kActs, kClients},
    {"callslip.tracker.v1.QueueService.ReceiveMessages", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.QueueService.StartTurn", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.QueueService.FinishTurn", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.RunnerService.Serve", Kind::kActs, kRunners},
    {"callslip.tracker.v1.RunnerService.SetAgentState", Kind::kActs, kRunners},
    {"callslip.tracker.v1.RunnerService.ReleaseSession", Kind::kActs, kRunners},
    {"callslip.tracker.v1.RunnerService.AnswerControl", Kind::kActs, kRunners},
    {"callslip.tracker.v1.RunnerService.IssueSessionToken", Kind::kActs, kRunners},
    {"callslip.tracker.v1.RunnerService.FindSessionToken", Kind::kReads, {}},
    {"callslip.tracker.v1.RunnerService.ListRunners", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.RunnerService.ControlAgent", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.CreateSession", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.GetSession", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.SessionService.ListSessions", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.SessionService.UpdateSession", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.EndSession", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.SessionService.ResumeSession", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.DeleteSession", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.AppendEvents", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.SessionService.ReadEvents", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.SessionService.WatchSession", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.SessionService.WatchSessions", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.SessionService.OpenPlayer", Kind::kReads, kReaders},
    {"callslip.tracker.v1.SessionService.MovePlayer", Kind::kReads, kReaders},
    {"callslip.tracker.v1.SessionService.ClosePlayer", Kind::kReads, kReaders},
    {"callslip.tracker.v1.SessionService.Play", Kind::kReads, kReaders},
    {"callslip.tracker.v1.SessionService.AddAgentText", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.SessionService.AskPermission", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.SessionService.AnswerPermission", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.ListPermissions", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.SessionService.CancelPermissions", Kind::kActs, kClientsAndRunners},
    {"callslip.tracker.v1.SessionService.PutImage", Kind::kActs, kClients},
    {"callslip.tracker.v1.SessionService.GetImage", Kind::kReads, kReadersAndRunners},
    {"callslip.tracker.v1.WorkerService.ReportWorker", Kind::kActs, kWorkers},
    {"callslip.tracker.v1.WorkerService.ListWorkers", Kind::kReads, kReaders},
    {"callslip.tracker.v1.WorkerService.ListTargets", Kind::kReads, kReaders},
    {"callslip.tracker.v1.WorkerService.AppendWorkerLog", Kind::kActs, kWorkers},
    {"callslip.tracker.v1.WorkerService.ListWorkerLog", Kind::kReads, kReaders},
};

}  // namespace

bool RpcAccess::Allows(Role role) const {
  constexpr RoleSet kEverything = {Role::kGateway, Role::kAdmin, Role::kLocal};
  return kind == Kind::kOpen || kEverything.Has(role) || roles.Has(role);
}

absl::Span<const RpcAccess> RpcAccessTable() { return kTable; }

const RpcAccess* FindRpcAccess(absl::string_view method) {
  const auto* row =
      absl::c_find_if(kTable, [method](const RpcAccess& each) { return each.method == method; });
  return row == std::end(kTable) ? nullptr : row;
}

}  // namespace callslip::tracker
