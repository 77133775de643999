#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gateway/oauth/grants.h"

namespace callslip::gateway {

// An authorization server with one user, for tests.
class FakeGrants final : public Grants {
 public:
  void Verify(const std::string& token, const std::string& /*address*/, Done done) override {
    seen.push_back(token);
    if (!refusal.ok()) return std::move(done)(refusal);
    std::move(done)(Find(grant));
  }

  absl::StatusOr<Grant> GrantOf(const std::string& /*token*/) override {
    if (!refusal.ok()) return refusal;
    return grant;
  }

  absl::StatusOr<CredentialPtr> Find(const Grant& asked) override {
    if (!refusal.ok()) return refusal;
    if (asked.key != grant.key) return absl::UnauthenticatedError("the key has gone");
    if (asked.scopes != grant.scopes) return absl::PermissionDeniedError("no scope");
    auto credential =
        std::make_shared<Credential>(Principal{"oauth-" + asked.caller, role}, asked.expires);
    given.push_back(credential);
    return CredentialPtr(std::move(credential));
  }

  Grant grant{.caller = "alice", .scopes = {"see"}, .key = "k", .expires = absl::InfiniteFuture()};
  Role role = Role::kViewer;
  absl::Status refusal;
  std::vector<std::string> seen;
  std::vector<std::shared_ptr<Credential>> given;
};

}  // namespace callslip::gateway
