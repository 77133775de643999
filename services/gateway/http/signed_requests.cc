#include "gateway/http/signed_requests.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gateway/http/unauthorized.h"

namespace callslip::gateway {

SeenNonces::Verdict SeenNonces::Enter(const RequestSignature& signature, int64_t oldest_ms) {
  Entry entry = {.time_ms = signature.time_ms};
  const std::string nonce = absl::HexStringToBytes(signature.nonce);
  std::copy_n(nonce.begin(), entry.nonce.size(), entry.nonce.begin());
  if (!absl::SimpleHexAtoi(signature.key, &entry.key)) return Verdict::kTooOld;
  MutexLock lock(&mutex_);
  while (!entries_.empty() && entries_.begin()->time_ms < oldest_ms) {
    entries_.erase(entries_.begin());
  }
  const auto forgotten = forgotten_until_ms_.find(entry.key);
  if (forgotten != forgotten_until_ms_.end() && entry.time_ms <= forgotten->second) {
    return Verdict::kTooOld;
  }
  // Another request may have the nonce with another time: both are signed, so both are the
  // client's own.
  if (!entries_.insert(entry).second) return Verdict::kSeen;
  if (entries_.size() > limit_) ForgetOldest();
  return Verdict::kNew;
}

void SeenNonces::ForgetOldest() {
  const Entry& oldest = *entries_.begin();
  forgotten_until_ms_[oldest.key] = oldest.time_ms;
  entries_.erase(entries_.begin());
}

void SignedRequests::Prover::Prove(HttpResponse& response) const {
  const auto body =
      response.stream == nullptr ? std::optional<absl::string_view>(response.body) : std::nullopt;
  response.headers.emplace_back(kProofHeader, ProveAnswer(token_, nonce_, response.status, body));
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
  const absl::Time time = absl::FromUnixMillis(signature->time_ms);
  Judgement judgement;
  auto verdict = SeenNonces::Verdict::kTooOld;
  if (now - kWindow <= time && time <= now + kWindow) {
    verdict = nonces_.Enter(*signature, absl::ToUnixMillis(now - kWindow));
  }
  // Only the first one of several gets proofs: a copy might otherwise pass for it.
  if (verdict == SeenNonces::Verdict::kSeen) return Judgement{.refusal = SignatureReplayed()};
  judgement.prover.emplace(std::move(token->text), signature->nonce);
  if (verdict == SeenNonces::Verdict::kTooOld) {
    judgement.refusal = SignatureStale(now);
  } else {
    judgement.credential = std::move(token->credential);
  }
  return judgement;
}

}  // namespace callslip::gateway
