#ifndef CALLSLIP_GATEWAY_WEB_PAGE_HANDLERS_H_
#define CALLSLIP_GATEWAY_WEB_PAGE_HANDLERS_H_

#include <memory>

#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/web/web_files.h"

namespace callslip::gateway {

// The page at /ui/: its files, which hold nothing of anybody and are for everybody. Every path
// below /ui/ that is not a file is a place in the page, whose script finds out which: it gets
// index.html. What is below /ui/assets/ has its contents in its name and may be kept for ever; all
// else is asked for again, and answered with 304 where it is still the same.
class PageHandlers {
 public:
  // `files` outlive it. `is_tls`: over HTTPS.
  explicit PageHandlers(const WebFiles* files, bool is_tls = false)
      : files_(files), is_tls_(is_tls) {}

  // GET and HEAD of /, /ui and all below.
  void AddRoutes(Router& router) const;

  HttpResponse Answer(const HttpRequest& request) const;
  // At /: browsers are led to the page; what asks for no HTML, such as curl, is told what is where.
  HttpResponse AnswerAtRoot(const HttpRequest& request) const;

 private:
  const WebFiles* const files_;
  const bool is_tls_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_PAGE_HANDLERS_H_
