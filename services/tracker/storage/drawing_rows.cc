#include "tracker/storage/drawing_rows.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/storage/command_rows.h"

namespace callslip::tracker {
namespace {

// Names have no control characters, so that these separate them.
std::string EncodeReceipts(const std::vector<DrawingReceipt>& receipts) {
  std::string text;
  for (const DrawingReceipt& receipt : receipts) {
    if (!text.empty()) text.push_back('\n');
    text += receipt.client_id;
    if (receipt.command.has_value()) absl::StrAppend(&text, "\t", receipt.command->ToString());
  }
  return text;
}

bool DecodeReceipts(absl::string_view text, std::vector<DrawingReceipt>& receipts) {
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, '\t');
    DrawingReceipt receipt{std::string(parts.first), std::nullopt};
    if (!parts.second.empty()) {
      receipt.command = CommandId::Parse(parts.second);
      if (!receipt.command.has_value()) return false;
    }
    receipts.push_back(std::move(receipt));
  }
  return true;
}

std::string EncodeIds(const std::vector<std::string>& ids) { return absl::StrJoin(ids, " "); }

std::vector<std::string> DecodeIds(absl::string_view text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

// What changes of a drawing.
struct Receipts {
  std::vector<DrawingReceipt> receipts;
  std::vector<std::string> to_complete;
};
using ReceiptsBySequence = absl::flat_hash_map<int64_t, Receipts>;

// Calls `read` with each row of the table.
template <typename Read>
absl::Status ForEachRow(SqliteDatabase& database, const char* table, Read read) {
  ASSIGN_OR_RETURN(SqliteStatement row,
                   SqliteStatement::Prepare(
                       database, absl::StrCat("SELECT * FROM ", table, " ORDER BY sequence")));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    if (!found) return absl::OkStatus();
    RETURN_IF_ERROR(read(row));
  }
}

absl::Status ReadReceipts(const SqliteStatement& row, ReceiptsBySequence& all) {
  if (!row.HasChecksum(3)) return DamagedRow("drawing_receipts", row.Int(0));
  Receipts receipts{.to_complete = DecodeIds(row.Bytes(2))};
  if (!DecodeReceipts(row.Bytes(1), receipts.receipts)) {
    return NonsensicalRow("drawing_receipts", row.Int(0));
  }
  all.emplace(row.Int(0), std::move(receipts));
  return absl::OkStatus();
}

absl::StatusOr<DrawingRecord> ReadDrawing(const SqliteStatement& row) {
  if (!row.HasChecksum(9)) return DamagedRow("drawings", row.Int(0));
  if (row.IsNull(8)) return NonsensicalRow("drawings", row.Int(0));
  DrawingRecord record;
  record.drawing = std::make_shared<const Drawing>(
      Drawing{.target = row.Text(1),
              .tab_id = row.Int(2),
              .url = row.Text(3),
              .title = row.Text(4),
              .session = row.Text(5),
              .content = std::make_shared<const std::string>(row.Text(8)),
              .sequence = static_cast<uint64_t>(row.Int(0)),
              .append_time = absl::FromUnixNanos(row.Int(7))});
  record.drawing_id = row.Text(6);
  return record;
}

absl::StatusOr<DrawingAnswer> ReadAnswer(const SqliteStatement& row) {
  if (!row.HasChecksum(6)) return DamagedRow("drawing_answers", row.Int(0));
  return DrawingAnswer{.target = row.Text(1),
                       .drawing_id = row.Text(2),
                       .append_time = absl::FromUnixNanos(row.Int(3)),
                       .answer = {.completed = DecodeIds(row.Bytes(4)), .stored = row.Int(5) != 0}};
}

}  // namespace

absl::StatusOr<DrawingRowWriter> DrawingRowWriter::Prepare(SqliteDatabase& database) {
  DrawingRowWriter writer;
  for (const auto& [statement, sql] :
       std::initializer_list<std::pair<SqliteStatement*, const char*>>{
           {&writer.insert_drawing_, "INSERT INTO drawings VALUES (?,?,?,?,?,?,?,?,?,?)"},
           {&writer.replace_receipts_, "INSERT OR REPLACE INTO drawing_receipts VALUES (?,?,?,?)"},
           {&writer.replace_answer_,
            "INSERT OR REPLACE INTO drawing_answers VALUES (?,?,?,?,?,?,?)"},
           {&writer.delete_drawing_, "DELETE FROM drawings WHERE sequence = ?"},
           {&writer.delete_receipts_, "DELETE FROM drawing_receipts WHERE sequence = ?"},
           {&writer.delete_answer_, "DELETE FROM drawing_answers WHERE sequence = ?"}}) {
    ASSIGN_OR_RETURN(*statement, SqliteStatement::Prepare(database, sql));
  }
  return writer;
}

absl::Status DrawingRowWriter::Write(const DrawingRecord& record, bool is_new) {
  const Drawing& drawing = *record.drawing;
  const auto sequence = static_cast<int64_t>(drawing.sequence);
  if (is_new) {
    SqliteStatement& row = insert_drawing_;
    int next = 0;
    row.Bind(next++, sequence);
    row.BindText(next++, drawing.target);
    row.Bind(next++, drawing.tab_id);
    row.BindText(next++, drawing.url);
    row.BindText(next++, drawing.title);
    row.BindText(next++, drawing.session);
    row.BindText(next++, record.drawing_id);
    row.Bind(next++, absl::ToUnixNanos(drawing.append_time));
    row.BindBytes(next++, *drawing.content);
    row.BindChecksum(next++);
    RETURN_IF_ERROR(row.Run());
    if (record.receipts.empty() && record.to_complete.empty()) return absl::OkStatus();
  }
  const std::string receipts = EncodeReceipts(record.receipts);
  const std::string to_complete = EncodeIds(record.to_complete);
  replace_receipts_.Bind(0, sequence);
  replace_receipts_.BindText(1, receipts);
  replace_receipts_.BindText(2, to_complete);
  replace_receipts_.BindChecksum(3);
  return replace_receipts_.Run();
}

absl::Status DrawingRowWriter::Write(uint64_t sequence, const DrawingAnswer& answer) {
  SqliteStatement& row = replace_answer_;
  const std::string completed = EncodeIds(answer.answer.completed);
  row.Bind(0, static_cast<int64_t>(sequence));
  row.BindText(1, answer.target);
  row.BindText(2, answer.drawing_id);
  row.Bind(3, absl::ToUnixNanos(answer.append_time));
  row.BindText(4, completed);
  row.Bind(5, int64_t{answer.answer.stored});
  row.BindChecksum(6);
  return row.Run();
}

absl::Status DrawingRowWriter::Remove(uint64_t sequence) {
  for (SqliteStatement* row : {&delete_drawing_, &delete_receipts_, &delete_answer_}) {
    row->Bind(0, static_cast<int64_t>(sequence));
    RETURN_IF_ERROR(row->Run());
  }
  return absl::OkStatus();
}

absl::Status ReadDrawingRows(SqliteDatabase& database,
                             const std::function<void(JournalEntry)>& each) {
  ReceiptsBySequence receipts;
  RETURN_IF_ERROR(ForEachRow(database, "drawing_receipts", [&](const SqliteStatement& row) {
    return ReadReceipts(row, receipts);
  }));
  RETURN_IF_ERROR(ForEachRow(database, "drawings", [&](const SqliteStatement& row) {
    ASSIGN_OR_RETURN(DrawingRecord record, ReadDrawing(row));
    if (const auto own = receipts.find(row.Int(0)); own != receipts.end()) {
      record.receipts = std::move(own->second.receipts);
      record.to_complete = std::move(own->second.to_complete);
      receipts.erase(own);
    }
    const uint64_t sequence = record.drawing->sequence;
    each({sequence, std::move(record)});
    return absl::OkStatus();
  }));
  if (!receipts.empty()) return NonsensicalRow("drawing_receipts", receipts.begin()->first);
  return ForEachRow(database, "drawing_answers", [&](const SqliteStatement& row) {
    ASSIGN_OR_RETURN(DrawingAnswer answer, ReadAnswer(row));
    each({static_cast<uint64_t>(row.Int(0)), std::move(answer)});
    return absl::OkStatus();
  });
}

}  // namespace callslip::tracker
