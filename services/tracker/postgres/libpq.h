#pragma once

#include <libpq-fe.h>

#include "absl/status/status.h"

// The functions of libpq in use. libpq is loaded only when a database is used, because it depends
// on sixteen other libraries, which an installation that stores everything in files does not need
// in memory or on the disk.
// clang-format off
#define CALLSLIP_LIBPQ(F) \
  F(clear) F(conninfoFree) F(conninfoParse) F(connectdbParams) F(consumeInput) F(errorMessage) \
  F(finish) F(flush) F(freemem) F(getResult) \
  F(getisnull) F(getlength) F(getvalue) F(isBusy) F(ntuples) F(resultErrorField) \
  F(resultErrorMessage) F(resultStatus) F(sendPrepare) F(sendQuery) F(sendQueryPrepared) \
  F(setNoticeReceiver) F(setnonblocking) F(socket) F(status)
// clang-format on

namespace callslip::tracker {

struct Libpq {
#define CALLSLIP_LIBPQ_MEMBER(name) decltype(&PQ##name) name = nullptr;
  CALLSLIP_LIBPQ(CALLSLIP_LIBPQ_MEMBER)
#undef CALLSLIP_LIBPQ_MEMBER
};

// Loads libpq if it is not loaded yet. FAILED_PRECONDITION, with what to do, if it is missing.
// Thread-safe.
absl::Status LoadLibpq();
// Only after LoadLibpq() succeeded.
const Libpq& Pq();

}  // namespace callslip::tracker
