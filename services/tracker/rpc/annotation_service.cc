#include "tracker/rpc/annotation_service.h"

#include <string>
#include <utility>
#include <vector>

#include "common/status_macros.h"
#include "tracker/rpc/annotation_convert.h"
#include "tracker/rpc/command_convert.h"

namespace callslip::tracker {

void AnnotationService::ServeOn(AsyncServer& server) {
  server.ServeUnary("RequestAnnotations", this, &AnnotationService::Request);
  server.ServeUnary("AppendAnnotations", this, &AnnotationService::Append);
  server.ServeUnary("ListAnnotations", this, &AnnotationService::List);
}

absl::Status AnnotationService::Request(const CallContext& caller,
                                        const v1::RequestAnnotationsRequest& request,
                                        v1::RequestAnnotationsResponse& response) {
  AnnotationRequest asked = RequestFrom(caller, request);
  asked.peek = true;
  ASSIGN_OR_RETURN(const CommandRegistration registration,
                   store_->Request(std::move(asked), clock_->Now()));
  if (IsTerminal(registration.command->state)) {
    caller.WhenAnswered([this, command = registration.command] { store_->Collect(*command); });
  }
  Fill(*registration.command, CommandView::kWithoutParams, *response.mutable_command());
  response.set_existed(registration.existed);
  return absl::OkStatus();
}

absl::Status AnnotationService::Append(const CallContext& caller,
                                       const v1::AppendAnnotationsRequest& request,
                                       v1::AppendAnnotationsResponse& response) {
  ASSIGN_OR_RETURN(Drawing drawing, DrawingFrom(request.drawing()));
  drawing.clients = caller.Serves();
  std::string any_name;
  RETURN_IF_ERROR(EnforceScope(*caller.principal, drawing.target, any_name));
  const std::vector<std::string> command_ids(request.command_ids().begin(),
                                             request.command_ids().end());
  ASSIGN_OR_RETURN(
      const AppendedDrawing appended,
      store_->Append(std::move(drawing), command_ids, request.drawing_id(), clock_->Now()));
  for (const std::string& id : appended.completed) response.add_completed_command_ids(id);
  response.set_stored(appended.stored);
  return absl::OkStatus();
}

absl::Status AnnotationService::List(const CallContext& caller,
                                     const v1::ListAnnotationsRequest& request,
                                     v1::ListAnnotationsResponse& response) {
  // A peek collects nothing.
  const bool peek = request.peek() || kReadOnlyRoles.Has(caller.role);
  ASSIGN_OR_RETURN(const DrawingPage page,
                   store_->List(caller.client_id, QueryFrom(request), request.page_size(),
                                request.page_token(), clock_->Now()));
  for (const DrawingPtr& drawing : page.drawings) Fill(*drawing, *response.add_drawings());
  response.set_next_page_token(page.next_page_token);
  if (!peek) {
    // Only once they have been sent: a caller that got an error has none of them.
    caller.WhenAnswered([this, client_id = caller.client_id, drawings = page.drawings] {
      store_->Collect(client_id, drawings);
    });
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
