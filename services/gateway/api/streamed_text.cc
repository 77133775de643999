#include "gateway/api/streamed_text.h"

#include <string>

#include "absl/strings/numbers.h"
#include "common/json_scan.h"
#include "gateway/json/session_json.h"

namespace callslip::gateway {

void StreamedText::Note(const v1::SessionUpdate& update) {
  if (update.has_snapshot()) text_ = update.snapshot().agent_text();
  if (update.has_agent_text()) Add(update.agent_text());
  if (!text_.text().empty() && update.has_event() && Ends(update.event())) text_.Clear();
}

// A finished answer is an agent_message.
bool StreamedText::Ends(const v1::SessionEvent& event) const {
  if (event.type() == "session_end") return true;
  if (event.type() != "agent_message") return false;
  const JsonScan scan = ScanJson(event.data());
  int64_t iteration = 0;
  return absl::SimpleAtoi(FindMember(scan.members, "iteration").value_or(""), &iteration) &&
         iteration >= text_.iteration();
}

void StreamedText::Add(const Piece& piece) {
  std::string& text = *text_.mutable_text();
  const int64_t at = piece.offset() - text_.offset();
  const bool follows = !text.empty() && piece.iteration() == text_.iteration() && at >= 0 &&
                       at <= static_cast<int64_t>(text.size());
  if (follows) {
    text.resize(static_cast<size_t>(at));
    text += piece.text();
  } else {
    text_ = piece;
  }
  if (text.size() <= kMaxBytes) return;
  size_t cut = text.size() - kMaxBytes;
  while (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) ++cut;
  text.erase(0, cut);
  text_.set_offset(text_.offset() + static_cast<int64_t>(cut));
}

Json StreamedText::ToJson() const { return text_.text().empty() ? Json() : gateway::ToJson(text_); }

}  // namespace callslip::gateway
