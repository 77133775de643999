#include "gateway/files/file_store.h"

#include <string>

#include "common/error_details.h"
#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

class FileStoreTest : public testing::Test {
 protected:
  absl::StatusOr<FileStore::About> Begin(int64_t size, const std::string& bytes,
                                         const std::string& owner = "alice") {
    return store_.Put(owner, {.name = "a.txt", .size = size, .bytes = bytes});
  }
  absl::StatusOr<FileStore::About> GoOn(const std::string& id, int64_t offset,
                                        const std::string& bytes,
                                        const std::string& owner = "alice") {
    return store_.Put(owner, {.id = id, .offset = offset, .bytes = bytes});
  }
  // Uploads a complete file whose content does not matter.
  std::string Whole(int64_t size, const std::string& owner = "alice") {
    const auto begun = Begin(size, "", owner);
    if (!begun.ok()) return "";
    for (int64_t at = 0; at < size;) {
      const auto bytes = std::min<int64_t>(FileStore::kPieceBytes, size - at);
      EXPECT_OK(GoOn(begun->id, at, std::string(static_cast<size_t>(bytes), 'x'), owner).status());
      at += bytes;
    }
    return begun->id;
  }
  void ReadAll(const std::string& id) {
    for (int64_t at = 0;;) {
      ASSERT_OK_AND_ASSIGN(const auto part, store_.Read(id, at));
      at += static_cast<int64_t>(part.bytes.size());
      if (at == part.size) return;
    }
  }
  template <typename T>
  static std::string ReasonOf(const absl::StatusOr<T>& result) {
    return DetailsOf(result.status()).reason;
  }

  FakeClock clock_;
  FileStore store_{&clock_, 2 * FileStore::kBytesOfClient};
};

TEST_F(FileStoreTest, FileIsUploadedAndReadInPieces) {
  ASSERT_OK_AND_ASSIGN(const auto begun, Begin(5, "ab"));
  EXPECT_EQ(begun.received, 2);
  EXPECT_EQ(ReasonOf(store_.Find("alice", begun.id)), "file_unavailable") << "not whole yet";
  ASSERT_OK(GoOn(begun.id, 2, "cde").status());
  ASSERT_OK_AND_ASSIGN(const auto again, GoOn(begun.id, 2, "cde"));
  EXPECT_EQ(again.received, 5) << "a repeated piece changes nothing";
  ASSERT_OK_AND_ASSIGN(const auto found, store_.Find("alice", begun.id));
  EXPECT_EQ(found.name, "a.txt");
  EXPECT_EQ(found.size, 5);
  EXPECT_EQ(store_.Read(begun.id, 0)->bytes, "abcde");
  EXPECT_EQ(store_.Read(begun.id, 3)->bytes, "de");
  EXPECT_EQ(store_.Read(begun.id, 5)->bytes, "");
  EXPECT_EQ(ReasonOf(store_.Read(begun.id, 6)), "invalid_piece");
}

TEST_F(FileStoreTest, FileIsAvailableOnlyToItsClient) {
  const std::string id = Whole(3);
  EXPECT_EQ(ReasonOf(store_.Find("bob", id)), "file_unavailable");
  EXPECT_EQ(ReasonOf(GoOn(id, 0, "x", "bob")), "file_unavailable");
  EXPECT_EQ(ReasonOf(store_.Find("alice", "file-0")), "file_unavailable");
}

TEST_F(FileStoreTest, InvalidPiecesAreRefused) {
  ASSERT_OK_AND_ASSIGN(const auto begun, Begin(5, "ab"));
  EXPECT_EQ(ReasonOf(GoOn(begun.id, 3, "x")), "invalid_piece");
  EXPECT_EQ(ReasonOf(GoOn(begun.id, 2, "cdef")), "invalid_piece");
  EXPECT_EQ(ReasonOf(GoOn(begun.id, -1, "x")), "invalid_piece");
  EXPECT_EQ(ReasonOf(store_.Put("alice", {.size = 1})), "invalid_piece") << "no name";
  EXPECT_EQ(ReasonOf(Begin(-1, "")), "invalid_piece");
}

TEST_F(FileStoreTest, ClientIsLimitedToSizeOfOneUpload) {
  EXPECT_EQ(ReasonOf(Begin(FileStore::kBytesOfClient + 1, "")), "file_too_large");
  const std::string large = Whole(FileStore::kBytesOfClient);
  EXPECT_EQ(ReasonOf(Begin(1, "")), "too_many_files");
  EXPECT_TRUE(DetailsOf(Begin(1, "").status()).retry_after.has_value());
  // A file that was read to its end makes room.
  ReadAll(large);
  EXPECT_OK(store_.Find("alice", large).status());
  EXPECT_OK(Begin(1, "").status());
  EXPECT_EQ(ReasonOf(store_.Find("alice", large)), "file_unavailable");
}

TEST_F(FileStoreTest, FileThatNoUploadNamesIsEvicted) {
  const std::string left = Whole(FileStore::kBytesOfClient);
  clock_.Advance(FileStore::kNamedWithin);
  const std::string named = Whole(FileStore::kBytesOfClient);
  EXPECT_EQ(ReasonOf(store_.Find("alice", left)), "file_unavailable");
  EXPECT_OK(store_.Find("alice", named).status());
  clock_.Advance(FileStore::kNamedWithin);
  EXPECT_EQ(ReasonOf(Begin(1, "")), "too_many_files");
}

TEST_F(FileStoreTest, AllClientsTogetherAreLimited) {
  Whole(FileStore::kBytesOfClient, "a");
  Whole(FileStore::kBytesOfClient, "b");
  EXPECT_EQ(ReasonOf(Begin(1, "", "c")), "too_many_files");
  clock_.Advance(FileStore::kLifetime);
  EXPECT_OK(Begin(1, "", "c").status());
}

TEST_F(FileStoreTest, NumberOfEmptyFilesIsLimited) {
  for (size_t i = 0; i < FileStore::kFilesOfClient; ++i) EXPECT_OK(Begin(0, "").status());
  EXPECT_EQ(ReasonOf(Begin(0, "")), "too_many_files");
  EXPECT_OK(Begin(0, "", "bob").status());
}

TEST_F(FileStoreTest, FilesExpire) {
  const std::string id = Whole(3);
  clock_.Advance(FileStore::kLifetime - absl::Seconds(1));
  EXPECT_OK(store_.Find("alice", id).status());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(ReasonOf(store_.Read(id, 0)), "file_unavailable");
}

}  // namespace
}  // namespace callslip::gateway
