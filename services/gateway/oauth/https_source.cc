#include "gateway/oauth/https_source.h"

#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/connect.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/asio/ssl/host_name_verification.hpp"
#include "boost/asio/ssl/stream.hpp"
#include "boost/beast/core/flat_buffer.hpp"
#include "boost/beast/http/parser.hpp"
#include "boost/beast/http/read.hpp"
#include "boost/beast/http/string_body.hpp"
#include "boost/beast/http/write.hpp"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/name_lookup.h"
#include "common/status_macros.h"
#include "common/version.h"
#include "gateway/http/await.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

using Parser = http::response_parser<http::string_body>;
using Request = http::request<http::string_body>;
using Response = Parser::value_type;

absl::Status Failed(absl::string_view step, const error_code& error) {
  return absl::UnavailableError(absl::StrCat("it failed to ", step, ": ", error.message()));
}

std::optional<absl::Duration> MaxAgeOf(absl::string_view cache_control) {
  for (absl::string_view directive : absl::StrSplit(cache_control, ',')) {
    directive = absl::StripAsciiWhitespace(directive);
    int64_t seconds = 0;
    if (directive == "no-store" || directive == "no-cache") return absl::ZeroDuration();
    if (absl::ConsumePrefix(&directive, "max-age=") && absl::SimpleAtoi(directive, &seconds)) {
      return absl::Seconds(seconds);
    }
  }
  return std::nullopt;
}

absl::StatusOr<Document> DocumentOf(Response response) {
  if (response.result() != http::status::ok) {
    return absl::NotFoundError(absl::StrCat("status ", response.result_int()));
  }
  const auto cache_control = response[http::field::cache_control];
  Document document{.max_age =
                        MaxAgeOf(absl::string_view(cache_control.data(), cache_control.size()))};
  document.body = std::move(response.body());
  return document;
}

Request RequestFor(http::verb method, const Url& url) {
  std::string target = absl::StartsWith(url.path, "/") ? url.path : absl::StrCat("/", url.path);
  Request request(method, target, 11);
  request.set(http::field::host, url.authority);
  request.set(http::field::accept, "application/json");
  request.set(http::field::user_agent, absl::StrCat("callslip-gateway/", kVersion));
  request.set(http::field::connection, "close");
  return request;
}

// One request and its response, over a connected stream.
template <typename Stream>
asio::awaitable<absl::StatusOr<Response>> Exchange(Stream& stream, const Request& request,
                                                   const DocumentLimits& limits) {
  auto [write_error, sent] = co_await http::async_write(stream, request, kAwait);
  if (write_error) co_return Failed("take the request", write_error);
  Parser parser;
  parser.body_limit(limits.body_bytes);
  parser.header_limit(limits.header_bytes);
  boost::beast::flat_buffer buffer;
  auto [read_error, received] = co_await http::async_read(stream, buffer, parser, kAwait);
  // The server can be reached but has nothing usable: some close the connection for unknown paths.
  if (read_error) co_return absl::NotFoundError(Failed("answer", read_error).message());
  co_return parser.release();
}

// For the hosts in the metadata of one server.
constexpr size_t kMaxLookups = 8;

class HttpsSource final : public DocumentSource {
 public:
  HttpsSource(ssl::context trust, const DocumentLimits& limits, NameLookup::Resolver resolve)
      : trust_(std::move(trust)), limits_(limits), resolve_(std::move(resolve)) {}

  absl::StatusOr<Document> Get(const Url& url) override {
    absl::StatusOr<Response> response = Ask(url, RequestFor(http::verb::get, url));
    if (!response.ok()) return response.status();
    return DocumentOf(*std::move(response));
  }

  absl::StatusOr<FormAnswer> Post(const Url& url, const std::string& form) override {
    Request request = RequestFor(http::verb::post, url);
    request.set(http::field::content_type, "application/x-www-form-urlencoded");
    request.body() = form;
    request.prepare_payload();
    absl::StatusOr<Response> response = Ask(url, request);
    if (!response.ok()) return absl::UnavailableError(response.status().message());
    return FormAnswer{static_cast<int>(response->result_int()), std::move(response->body())};
  }

  void Stop() override {
    MutexLock lock(&mutex_);
    stopped_ = true;
    if (cancel_ != nullptr) cancel_();
  }

 private:
  // One deadline for the whole call; what is not done by then is abandoned.
  absl::StatusOr<Response> Ask(const Url& url, const Request& request) {
    const absl::Time end = clock_.Now() + limits_.time;
    ASSIGN_OR_RETURN(const std::vector<tcp::endpoint> endpoints, Find(url.address));
    asio::io_context context(1);
    absl::StatusOr<Response> response = absl::UnavailableError(
        absl::StrCat("there was no answer within ", absl::FormatDuration(limits_.time)));
    asio::co_spawn(context, Fetch(url, endpoints, request),
                   [&](const std::exception_ptr& failure, absl::StatusOr<Response> fetched) {
                     response = failure == nullptr
                                    ? std::move(fetched)
                                    : absl::UnavailableError("the client of HTTP failed");
                   });
    if (!Enter([&context] { context.stop(); })) return Stopped();
    context.run_for(absl::ToChronoMilliseconds(end - clock_.Now()));
    return Leave() ? std::move(response) : Stopped();
  }

  absl::StatusOr<std::vector<tcp::endpoint>> Find(const Address& address) {
    NameLookup& lookup = LookupOf(address);
    if (!Enter([&lookup] { lookup.Cancel(); })) return Stopped();
    const absl::StatusOr<std::vector<SocketAddress>> found = lookup.Wait(limits_.time);
    if (!Leave()) return Stopped();
    if (!found.ok()) {
      return absl::UnavailableError(
          absl::StrCat("it failed to be found by its name: ", found.status().message()));
    }
    std::vector<tcp::endpoint> endpoints;
    for (const SocketAddress& each : *found) {
      tcp::endpoint& endpoint = endpoints.emplace_back();
      std::memcpy(endpoint.data(), &each.storage, each.size);
      endpoint.resize(each.size);
    }
    return endpoints;
  }

  // One lookup per address, so that the result of a slow name server serves the next fetch.
  NameLookup& LookupOf(const Address& address) {
    const std::string name = address.ToString();
    if (!lookups_.contains(name) && lookups_.size() >= kMaxLookups) lookups_.clear();
    const auto [place, is_new] = lookups_.try_emplace(name);
    if (is_new) {
      place->second =
          std::make_unique<NameLookup>(address.host, absl::StrCat(address.port), resolve_);
    }
    return *place->second;
  }

  static absl::Status Stopped() { return absl::UnavailableError("this gateway stops"); }

  // The operation that begins now ends by `cancel`, until Leave(). False if none may begin any
  // more.
  bool Enter(std::function<void()> cancel) {
    MutexLock lock(&mutex_);
    if (!stopped_) cancel_ = std::move(cancel);
    return !stopped_;
  }

  // False if Stop() has ended the operation.
  bool Leave() {
    MutexLock lock(&mutex_);
    cancel_ = nullptr;
    return !stopped_;
  }

  // Each co_await must stand alone in its statement: g++ 12 generates traps for some within a
  // condition.
  asio::awaitable<absl::StatusOr<Response>> Fetch(const Url& url,
                                                  const std::vector<tcp::endpoint>& endpoints,
                                                  const Request& request) {
    const auto executor = co_await asio::this_coro::executor;
    tcp::socket socket(executor);
    auto [connect_error, endpoint] = co_await asio::async_connect(socket, endpoints, kAwait);
    if (connect_error) co_return Failed("accept a connection", connect_error);
    if (!url.is_https) {
      auto plain = Exchange(socket, request, limits_);
      absl::StatusOr<Response> response = co_await std::move(plain);
      co_return response;
    }
    ssl::stream<tcp::socket> stream(std::move(socket), trust_);
    SSL_set_tlsext_host_name(stream.native_handle(), url.address.host.c_str());
    error_code error;
    stream.set_verify_callback(ssl::host_name_verification(url.address.host), error);
    auto [tls_error] = co_await stream.async_handshake(ssl::stream_base::client, kAwait);
    if (tls_error) co_return Failed("show a certificate that is believed", tls_error);
    auto exchange = Exchange(stream, request, limits_);
    absl::StatusOr<Response> response = co_await std::move(exchange);
    co_return response;
  }

  ssl::context trust_;
  const DocumentLimits limits_;
  const NameLookup::Resolver resolve_;
  std::map<std::string, std::unique_ptr<NameLookup>> lookups_;
  RealClock clock_;
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> cancel_ ABSL_GUARDED_BY(mutex_);  // Null: no operation in progress.
};

}  // namespace

absl::StatusOr<std::unique_ptr<DocumentSource>> MakeHttpsSource(const std::string& ca_file,
                                                                const DocumentLimits& limits,
                                                                NameLookup::Resolver resolve) {
  ssl::context trust(ssl::context::tls_client);
  error_code error;
  trust.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  trust.set_verify_mode(ssl::verify_peer, error);
  if (ca_file.empty()) {
    trust.set_default_verify_paths(error);
  } else {
    trust.load_verify_file(ca_file, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrCat("cannot read certificates of authorities in ",
                                                     ca_file, ": ", error.message()));
    }
  }
  return std::make_unique<HttpsSource>(std::move(trust), limits, std::move(resolve));
}

}  // namespace callslip::gateway
