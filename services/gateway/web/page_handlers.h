#pragma once

#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/web/web_files.h"

namespace callslip::gateway {

// The page at /ui/: its files, which contain no user's data and need no authentication. Every path
// below /ui/ that is not a file is a location in the page, which its script interprets: it gets
// index.html. Files below /ui/assets/ have a hash of their content in their names and can be cached
// forever; all others are requested again, and answered with 304 if unchanged.
class PageHandlers {
 public:
  // `files` must outlive this. `is_tls`: over HTTPS.
  explicit PageHandlers(const WebFiles* files, bool is_tls = false)
      : files_(files), is_tls_(is_tls) {}

  // GET and HEAD of /, /ui and all paths below.
  void AddRoutes(Router& router) const;

  HttpResponse Answer(const HttpRequest& request) const;
  // At /: redirects browsers to the page. A client that does not request HTML, such as curl, gets a
  // list of the paths.
  HttpResponse AnswerAtRoot(const HttpRequest& request) const;

 private:
  const WebFiles* const files_;
  const bool is_tls_;
};

}  // namespace callslip::gateway
