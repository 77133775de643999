#include "gateway/gateway_server.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "auth/token_file.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/file_limit.h"
#include "common/log.h"
#include "common/memory_release.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "gateway/api/command_api.h"
#include "gateway/api/command_hub.h"
#include "gateway/api/operations_api.h"
#include "gateway/api/session_api.h"
#include "gateway/api/session_hub.h"
#include "gateway/api/who_am_i.h"
#include "gateway/event_loop.h"
#include "gateway/extension/browser_log.h"
#include "gateway/extension/extension_handlers.h"
#include "gateway/extension/sync_handlers.h"
#include "gateway/files/file_store.h"
#include "gateway/health_handlers.h"
#include "gateway/http/http_server.h"
#include "gateway/http/router.h"
#include "gateway/http/signed_requests.h"
#include "gateway/mcp/streamable_http.h"
#include "gateway/mcp/tools/browser_tools.h"
#include "gateway/mcp/tools/command_resources.h"
#include "gateway/mcp/tools/file_tool.h"
#include "gateway/mcp/tools/observe_tool.h"
#include "gateway/mcp/tools/session_tool.h"
#include "gateway/metrics_handler.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/https_source.h"
#include "gateway/oauth/resource_server.h"
#include "gateway/session_tokens.h"
#include "gateway/tracker_access.h"
#include "gateway/tracker_client/tracker_client.h"
#include "gateway/web/page_handlers.h"
#include "gateway/web/page_login.h"
#include "gateway/web/provider_login.h"
#include "gateway/web/web_files.h"
#include "rpc_client/tracker_calls.h"
#include "tls/server_tls.h"

namespace callslip::gateway {

namespace {

// Signs session ids when there are no tokens. Not a secret: all callers are the same client, and
// nothing depends on its sessions. A constant key keeps the ids valid across restarts and gateways.
constexpr char kOpenSessionKey[] = "callslip gateway without tokens";

// The key that signs session ids. If callers must authenticate, only the gateway may be able to
// sign them. The token file holds a lasting key; without one the key is this process's own.
std::string SessionKey(const GatewayConfig& config, const std::optional<TokenFile>& token_file) {
  if (token_file.has_value()) return token_file->session_key;
  return config.oauth.is_on() ? absl::StrCat(RandomHex128(), RandomHex128()) : kOpenSessionKey;
}

// As many connections as the limit of open files allows, minus those that everything else needs.
HttpLimits LimitsOfThisProcess(const MemoryBudget& memory) {
  constexpr int64_t kOtherFiles = 64;
  HttpLimits limits = memory.http;
  limits.connections =
      static_cast<int>(std::clamp<int64_t>(RaiseFileLimit() - kOtherFiles, 1, limits.connections));
  limits.connections_of_address = std::min(limits.connections_of_address, limits.connections);
  return limits;
}

// How often to retry a port that another process uses.
constexpr std::chrono::seconds kListenPause{2};

// The token by which the tracker at `addresses` knows this gateway: the first one of its role,
// which stays valid there while a new one is being added. Empty if there is none, and over a Unix
// socket, which needs none.
std::string OwnTokenOf(const TokenFile& file, const std::vector<Address>& addresses) {
  if (addresses.front().is_unix()) return "";
  for (const TokenFile::Entry& entry : file.entries) {
    if (entry.principal.role == Role::kGateway && !entry.token.empty()) return entry.token;
  }
  return "";
}

McpCatalog Catalog(TrackerClient* tracker, Clock* clock, FileStore* files) {
  McpCatalog catalog;
  catalog.tools.push_back(std::make_unique<InteractTool>(tracker, clock, files));
  catalog.tools.push_back(std::make_unique<ObserveTool>(tracker, clock));
  catalog.tools.push_back(std::make_unique<AnalyzeTool>(tracker, clock));
  catalog.resources.push_back(std::make_unique<CommandResources>(tracker));
  return catalog;
}

}  // namespace

struct GatewayServer::Parts {
  Parts(const GatewayConfig& gateway_config, const std::optional<TokenFile>& token_file,
        std::unique_ptr<DocumentSource> issuer_source, const ExtendCatalog& extend_catalog)
      : config(gateway_config),
        session_key(SessionKey(config, token_file)),
        sessions(session_key),
        calls(std::make_shared<CallQueue>()),
        tracker(ConnectToTracker(config.tracker, calls, loop.executor(), config.TrackerTls())),
        tracker_access(tracker.get(), token_file.has_value() || config.oauth.is_on()),
        session_client(ConnectCalls(config.tracker, calls, loop.executor(), config.TrackerTls())),
        updates(std::make_shared<ByteBudget>(config.Memory().updates_bytes,
                                             config.Memory().updates_of_client_bytes)),
        session_hub(std::make_shared<SessionHub>(loop.executor(), session_client.get(), updates)),
        session_api(session_client.get(), session_hub),
        command_hub(std::make_shared<CommandHub>(loop.executor(), tracker.get(), updates)),
        command_api(tracker.get(), command_hub),
        operations_api(tracker.get(), &clock, &mcp_clients),
        mcp_server(MakeCatalog(extend_catalog), tracker.get(), &clock, &sessions),
        mcp(&mcp_server, &sessions, &mcp_clients, updates),
        resource_server(MakeResourceServer(std::move(issuer_source))),
        session_tokens(
            std::make_shared<SessionTokens>(loop.executor(), session_client.get(), &clock)),
        web_files(config.web_root.empty() ? FilesInProgram(EmbeddedWebFiles())
                                          : FilesInFolder(config.web_root)),
        page(web_files.get(), tls != nullptr),
        server(
            loop.executor(), LimitsOfThisProcess(config.Memory()),
            [this](std::shared_ptr<HttpRequest> request, Responder responder) {
              router->Handle(std::move(request), std::move(responder));
            },
            [this](const std::shared_ptr<HttpRequest>& head,
                   absl::AnyInvocable<void(HeadVerdict) &&> done) {
              router->JudgeHead(head, std::move(done));
            }) {
    server.Trust(*TrustedProxies::Of(config.trusted_proxies));
    if (token_file.has_value()) {
      credentials = std::make_shared<Credentials>(token_file->entries);
      calls->SetToken(OwnTokenOf(*token_file, config.tracker));
    }
    const bool has_provider = resource_server != nullptr && !config.oauth.page_client.empty();
    if (token_file.has_value() || has_provider) {
      page_login = std::make_unique<PageLogin>(session_key, credentials, &clock);
    }
    if (!has_provider) return;
    page_login->Believe(resource_server.get(),
                        absl::StrJoin({config.oauth.issuer, config.oauth.page_client,
                                       config.oauth.resource, config.oauth.principal_claim},
                                      " "));
    provider_login = MakeProviderLogin();
  }

  McpCatalog MakeCatalog(const ExtendCatalog& extend) {
    McpCatalog catalog = Catalog(tracker.get(), &clock, &files);
    catalog.tools.push_back(
        std::make_unique<SessionTool>(session_client.get(), session_hub, &clock));
    catalog.tools.push_back(std::make_unique<FileTool>(&files));
    if (extend) {
      const auto announce = [this](const std::string& list) {
        mcp_server.subscriptions().Announce(list);
      };
      extend(&clock, announce, catalog);
    }
    return catalog;
  }

  // Listens at one of the addresses of --listen. A Unix-domain socket needs no TLS.
  absl::StatusOr<Address> Listen(size_t listener) {
    const Address& address = config.listen[listener];
    return server.Listen(address, address.is_unix() ? nullptr : tls, listener);
  }

  // Retries an address until it is free.
  boost::asio::awaitable<void> ListenWhenFree(size_t listener) {
    boost::asio::steady_timer timer(loop.executor());
    for (;;) {
      timer.expires_after(kListenPause);
      co_await timer.async_wait(boost::asio::use_awaitable);
      if (is_leaving) co_return;
      if (Listen(listener).ok()) break;
    }
    const std::string address = config.listen[listener].ToString();
    std::erase(cannot_listen, address);
    Log(LogLevel::kInfo, "listening", {{"address", address}});
  }

  // Runs until the loop stops.
  boost::asio::awaitable<void> ReleaseMemory() {
    MemoryRelease memory;
    boost::asio::steady_timer timer(loop.executor());
    for (;;) {
      timer.expires_after(absl::ToChronoSeconds(MemoryRelease::kEvery));
      co_await timer.async_wait(boost::asio::use_awaitable);
      memory.Look();
      files.Purge();
    }
  }

  // Runs until the loop stops.
  boost::asio::awaitable<void> RefreshSessionTokens() {
    boost::asio::steady_timer timer(loop.executor());
    for (;;) {
      timer.expires_after(absl::ToChronoMilliseconds(SessionTokens::kKnownFor / 2));
      co_await timer.async_wait(boost::asio::use_awaitable);
      session_tokens->Refresh();
    }
  }

  // Null if the gateway is not an OAuth resource server.
  std::shared_ptr<ResourceServer> MakeResourceServer(std::unique_ptr<DocumentSource> source) {
    if (source == nullptr) return nullptr;
    return ResourceServer::Start(
        config.oauth, {.executor = loop.executor(), .clock = &clock, .source = std::move(source)});
  }

  // Null if the CA file for the issuer's server can no longer be read.
  std::unique_ptr<ProviderLogin> MakeProviderLogin() {
    auto source = MakeHttpsSource(config.oauth.ca_file);
    if (!source.ok()) return nullptr;
    std::vector<std::string> scopes;
    for (const auto& [scope, role] : resource_server->challenge().scopes) {
      if (role != Role::kWorker) scopes.push_back(scope);
    }
    return std::make_unique<ProviderLogin>(
        ProviderLogin::Settings{.issuer = config.oauth.issuer,
                                .client_id = config.oauth.page_client,
                                .resource = config.oauth.resource,
                                .scopes = std::move(scopes)},
        *std::move(source), [server = resource_server] { return server->endpoints(); },
        resource_server.get(), page_login.get(), &clock);
  }

  Challenge MakeChallenge() const {
    return resource_server == nullptr ? Challenge() : resource_server->challenge();
  }

  // Needs the bound ports, which the request filter checks.
  void MakeRouter(const std::vector<Address>& addresses) {
    router.emplace(
        RequestFilter(addresses, config.allowed_hosts, config.allowed_origins, tls != nullptr),
        credentials, &requests,
        credentials == nullptr ? nullptr : std::make_shared<SignedRequests>(credentials, &clock),
        resource_server.get(), MakeChallenge());
    router->TakeSessionTokens("/mcp", session_tokens.get());
    if (resource_server != nullptr) resource_server->AddRoutes(*router);
    if (HasPage()) page.AddRoutes(*router);
    if (page_login != nullptr) {
      router->AllowPageLogin(page_login.get());
      page_login->AddRoutes(*router);
      if (provider_login != nullptr) provider_login->AddRoutes(*router);
      AddLoginWays(*router, credentials != nullptr, provider_login.get());
    }
    router->Add(
        "POST", "/mcp", kReaders,  // Read-only roles get the read-only tools.
        [this](const std::shared_ptr<HttpRequest>& request, Responder responder) {
          mcp.HandlePost(*request, std::move(responder));
        },
        kMcpBodyBytes);
    router->Add("DELETE", "/mcp", kReaders, std::bind_front(&StreamableHttp::HandleDelete, &mcp));
    AddWorkerRoutes();
    AddWhoAmI(*router, page_login != nullptr, config.extension_dir);
    session_api.AddRoutes(*router);
    command_api.AddRoutes(*router);
    operations_api.AddRoutes(*router);
    router->Add("GET", "/metrics", kOperators, [this](std::shared_ptr<const HttpRequest> request) {
      return HandleMetrics(Metrics(), std::move(request));
    });
    router->AddOpen("GET", "/healthz", [this](std::shared_ptr<const HttpRequest>) {
      return HandleHealth(cannot_listen);
    });
    router->AddOpen("GET", "/readyz", [this](std::shared_ptr<const HttpRequest>) {
      return HandleReadiness(&tracker_access, is_leaving);
    });
  }

  // The routes of browser extensions.
  void AddWorkerRoutes() {
    const auto add = [this](const char* method, const char* path, HttpHandler handler,
                            uint64_t body_bytes = 0) {
      router->Add(method, path, kWorkers, std::move(handler), body_bytes);
    };
    TrackerClient* const client = tracker.get();
    add("GET", "/pending-queries", std::bind_front(HandlePendingQueries, client));
    add("POST", "/query-result", std::bind_front(HandleQueryResult, client), kLargestBodyBytes);
    add("POST", "/draw-mode/complete", std::bind_front(HandleDrawMode, client), kLargestBodyBytes);
    add("POST", "/worker-status", std::bind_front(HandleWorkerStatus, client));
    add("GET", "/files/{id}", std::bind_front(HandleFile, &files));
    add("POST", "/sync", std::bind_front(HandleSync, client, &clock), kLargestBodyBytes);
    add("GET", "/health", std::bind_front(HandleSyncHealth, client));
    add("POST", "/screenshots", std::bind_front(HandleScreenshots, client), kLargestBodyBytes);
    for (const BrowserLogPath& path : BrowserLogPaths()) {
      add("POST", path.path, std::bind_front(HandleBrowserLog, client, path), kLargestBodyBytes);
    }
  }

  MetricsSource Metrics() {
    return {.requests = &requests,
            .server = &server,
            .calls = &mcp_server.calls(),
            .tracker = tracker.get(),
            .updates = updates.get(),
            .memory = config.Memory()};
  }

  bool HasPage() const { return !config.web_root.empty() || !EmbeddedWebFiles().empty(); }

  const GatewayConfig config;
  std::shared_ptr<Credentials> credentials;  // Null: every client may call.
  std::unique_ptr<PageLogin> page_login;     // Null: no client needs to log in.
  std::shared_ptr<ServerTls> tls;            // Null: no TLS.
  const std::string session_key;             // At startup.
  // Holds each request in progress until it ends.
  Sessions sessions;
  // Destroyed next to last: its destruction ends the remaining coroutines. By then the destruction
  // of the clients has settled the calls that they wait for.
  EventLoop loop;
  const std::shared_ptr<CallQueue> calls;
  std::unique_ptr<TrackerClient> tracker;
  TrackerAccess tracker_access;
  std::unique_ptr<TrackerCalls> session_client;
  const std::shared_ptr<ByteBudget> updates;  // Updates waiting for observers.
  std::shared_ptr<SessionHub> session_hub;
  const SessionApi session_api;
  const std::shared_ptr<CommandHub> command_hub;
  const CommandApi command_api;
  RealClock clock;
  RecentMcpClients mcp_clients{&clock};
  const OperationsApi operations_api;
  FileStore files{&clock, config.Memory().files_bytes};
  HttpMetrics requests{&clock};
  McpServer mcp_server;
  const StreamableHttp mcp;
  // Null: no access tokens are accepted.
  const std::shared_ptr<ResourceServer> resource_server;
  std::unique_ptr<ProviderLogin> provider_login;  // Null: no login through the provider.
  const std::shared_ptr<SessionTokens> session_tokens;
  const std::unique_ptr<WebFiles> web_files;
  const PageHandlers page;
  std::optional<Router> router;
  // Used on the loop.
  bool is_leaving = false;
  std::vector<std::string> cannot_listen;  // Addresses that another process uses.
  HttpServer server;
};

GatewayServer::GatewayServer(const GatewayConfig& config,
                             const std::optional<TokenFile>& token_file,
                             std::unique_ptr<DocumentSource> issuer_source,
                             const ExtendCatalog& extend_catalog)
    : parts_(
          std::make_unique<Parts>(config, token_file, std::move(issuer_source), extend_catalog)) {}

void GatewayServer::Take(const TokenFile& tokens) {
  boost::asio::post(
      parts_->loop.executor(),
      [this, token = OwnTokenOf(tokens, parts_->config.tracker), session_key = tokens.session_key] {
        parts_->calls->SetToken(token);
        parts_->sessions.SetKey(session_key);
        parts_->page_login->SetKey(session_key);
      });
}

std::shared_ptr<Credentials> GatewayServer::credentials() const { return parts_->credentials; }

GatewayServer::~GatewayServer() { parts_->loop.Stop(); }

absl::StatusOr<std::vector<Address>> GatewayServer::Start() {
  Parts& parts = *parts_;
  const GatewayConfig& config = parts.config;
  if (!config.tls.certificate.empty()) {
    ASSIGN_OR_RETURN(parts.tls, ServerTls::Load(config.tls));
  }
  std::vector<Address> bound;
  std::vector<Address> all = config.listen;
  for (size_t listener = 0; listener < all.size(); ++listener) {
    const absl::StatusOr<Address> listening = parts.Listen(listener);
    if (listening.ok()) {
      bound.push_back(*listening);
      all[listener] = *listening;
      continue;
    }
    if (!config.listen_when_free || !absl::IsUnavailable(listening.status())) {
      return listening.status();
    }
    Log(LogLevel::kError, "cannot listen yet",
        {{"reason", std::string(listening.status().message())}});
    parts.cannot_listen.push_back(config.listen[listener].ToString());
    boost::asio::co_spawn(parts.loop.executor(), parts.ListenWhenFree(listener),
                          boost::asio::detached);
  }
  if (bound.empty()) return absl::UnavailableError("no address of --listen is free");
  parts.MakeRouter(all);
  boost::asio::co_spawn(parts.loop.executor(), parts.tracker_access.Watch(&parts.is_leaving),
                        boost::asio::detached);
  boost::asio::co_spawn(parts.loop.executor(), parts.ReleaseMemory(), boost::asio::detached);
  boost::asio::co_spawn(parts.loop.executor(), parts.RefreshSessionTokens(), boost::asio::detached);
  parts.loop.Start();
  return bound;
}

std::vector<Router::Served> GatewayServer::Routes() const { return parts_->router->Routes(); }

const McpServer& GatewayServer::mcp() const { return parts_->mcp_server; }

void GatewayServer::AddMetrics(MetricsPage& page) {
  std::promise<void> added;
  boost::asio::post(parts_->loop.executor(), [this, &page, &added] {
    gateway::AddMetrics(parts_->Metrics(), page);
    added.set_value();
  });
  added.get_future().wait();
}

void GatewayServer::Leave(absl::Duration delay) {
  boost::asio::post(parts_->loop.executor(), [this] {
    parts_->is_leaving = true;
    parts_->server.CloseAfterAnswers();
  });
  parts_->clock.NewSleeper()->SleepUntil(parts_->clock.Now() + delay);
}

void GatewayServer::Drain(absl::Duration grace) {
  // Shared, because the last request may end after the grace period.
  auto idle = std::make_shared<std::promise<void>>();
  std::future<void> is_idle = idle->get_future();
  parts_->server.Drain([idle] { idle->set_value(); });
  // Held polls and waits would outlast any grace period. Their callers get an error as if the call
  // to the tracker had failed, and can ask another gateway, or this one once it is back.
  boost::asio::post(parts_->loop.executor(), [this] {
    parts_->mcp_server.subscriptions().End();
    parts_->tracker->EndCalls();
    parts_->session_hub->End();
    parts_->command_hub->End();
    parts_->session_client->EndCalls();
  });
  is_idle.wait_for(absl::ToChronoMilliseconds(grace));
}

}  // namespace callslip::gateway
