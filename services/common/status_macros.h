#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the function when `expression`, an absl::Status, is not OK.
#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (absl::Status callslip_status = (expression); !callslip_status.ok()) { \
      return callslip_status;                                                 \
    }                                                                         \
  } while (false)

// ASSIGN_OR_RETURN(auto value, StatusOrExpression()): declares or assigns, or returns the error.
#define ASSIGN_OR_RETURN(target, expression) \
  CALLSLIP_ASSIGN_OR_RETURN(CALLSLIP_CONCAT(callslip_status_or_, __LINE__), target, expression)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot be parenthesized.
#define CALLSLIP_CONCAT_INNER(a, b) a##b
#define CALLSLIP_CONCAT(a, b) CALLSLIP_CONCAT_INNER(a, b)
#define CALLSLIP_ASSIGN_OR_RETURN(temporary, target, expression) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return std::move(temporary).status();     \
  target = std::move(temporary).value()
// NOLINTEND(bugprone-macro-parentheses)
