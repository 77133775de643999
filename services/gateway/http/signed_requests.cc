#include "gateway/http/signed_requests.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "gateway/http/unauthorized.h"

namespace callslip::gateway {

SeenNonces::Verdict SeenNonces::Enter(const RequestSignature& signature, absl::Time now) {
  Entry entry = {.time_ms = signature.time_ms};
  const std::string nonce = absl::HexStringToBytes(signature.nonce);
  std::copy_n(nonce.begin(), entry.nonce.size(), entry.nonce.begin());
  const int64_t oldest_ms = absl::ToUnixMillis(now - kWindow - kAnswerTime);
  // No client waits for its response any more, so refusing it is harmless even if it was accepted
  // before.
  if (entry.time_ms < oldest_ms) return Verdict::kTooOff;
  MutexLock lock(&mutex_);
  OfKey& key = keys_[signature.key];
  Forget(key, oldest_ms);
  // The same nonce with another time is another request: both are signed, so both are the client's
  // own.
  if (key.taken.contains(entry) || key.ahead.contains(entry)) return Verdict::kSeen;
  if (entry.time_ms > absl::ToUnixMillis(now + kWindow)) {
    if (key.ahead.size() >= kMaxAhead) return Verdict::kUnknown;
    key.ahead.insert(entry);
    return Verdict::kTooOff;
  }
  if (entry.time_ms <= key.forgotten_until_ms) return Verdict::kUnknown;
  if (entry.time_ms < absl::ToUnixMillis(now - kWindow)) return Verdict::kTooOff;
  key.taken.insert(entry);
  if (++taken_ > limit_) MakeRoom(oldest_ms);
  return Verdict::kNew;
}

void SeenNonces::Forget(OfKey& key, int64_t oldest_ms) {
  const auto is_over = [oldest_ms](const std::set<Entry>& entries) {
    return !entries.empty() && entries.begin()->time_ms < oldest_ms;
  };
  for (; is_over(key.taken); --taken_) key.taken.erase(key.taken.begin());
  while (is_over(key.ahead)) key.ahead.erase(key.ahead.begin());
}

void SeenNonces::MakeRoom(int64_t oldest_ms) {
  OfKey* largest = nullptr;
  for (auto& [fingerprint, key] : keys_) {
    Forget(key, oldest_ms);
    if (largest == nullptr || key.taken.size() > largest->taken.size()) largest = &key;
  }
  if (taken_ <= limit_) return;
  const auto oldest = largest->taken.begin();
  largest->forgotten_until_ms = std::max(largest->forgotten_until_ms, oldest->time_ms);
  largest->taken.erase(oldest);
  --taken_;
}

void SignedRequests::Prover::Prove(HttpResponse& response) const {
  std::optional<absl::string_view> body;
  if (response.stream == nullptr) body = is_head_ ? absl::string_view() : response.body;
  response.headers.emplace_back(kProofHeader, ProveAnswer(token_, nonce_, response.status, body));
}

std::optional<Principal> SignedRequests::ClaimedBy(const HttpRequest& head) const {
  const auto signature = ParseSignature(head.Header("authorization"));
  if (!signature.has_value()) return std::nullopt;
  const auto token = credentials_->FindFingerprint(signature->key);
  if (!token.has_value()) return std::nullopt;
  return token->credential->principal();
}

std::optional<SignedRequests::Judgement> SignedRequests::Judge(const HttpRequest& request) {
  const std::string& authorization = request.Header("authorization");
  if (!IsSignatureHeader(authorization)) return std::nullopt;
  const std::optional<RequestSignature> signature = ParseSignature(authorization);
  if (!signature.has_value()) return Judgement{.refusal = SignatureMalformed()};
  std::optional<Credentials::Token> token = credentials_->FindFingerprint(signature->key);
  if (!token.has_value()) return Judgement{.refusal = TokenUnknown()};
  const RequestToSign signed_parts = {.method = request.method,
                                      .host = request.Header("host"),
                                      .target = request.target,
                                      .body = request.body};
  if (!IsSignatureOf(token->text, signed_parts, *signature)) {
    return Judgement{.refusal = SignatureWrong()};
  }
  const absl::Time now = clock_->Now();
  const SeenNonces::Verdict verdict = nonces_.Enter(*signature, now);
  // Only the first of several copies gets a proof; otherwise a copy could pass for it.
  if (verdict == SeenNonces::Verdict::kSeen) return Judgement{.refusal = SignatureReplayed()};
  if (verdict == SeenNonces::Verdict::kUnknown) return Judgement{.refusal = SignatureStale(now)};
  Judgement judgement;
  judgement.prover.emplace(std::move(token->text), signature->nonce, request.method == "HEAD");
  if (verdict == SeenNonces::Verdict::kTooOff) {
    judgement.refusal = SignatureStale(now);
  } else {
    judgement.credential = std::move(token->credential);
  }
  return judgement;
}

}  // namespace callslip::gateway
