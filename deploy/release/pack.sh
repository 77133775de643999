#!/usr/bin/env bash
# Packs files that are there into archives that are the same, byte by byte, for the same input. Prints
# the path of what it made.
#   pack.sh extension OUT      the browser extension, for the store
#   pack.sh mcpb BIN OUT       the bundle for desktop clients, of the programs in the folder BIN
#   pack.sh checksums OUT      SHA256SUMS of the files in OUT
# Files are as old as SOURCE_DATE_EPOCH says, else as the last commit.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly ROOT
umask 022
export LC_ALL=C TZ=UTC0

die() { printf 'pack: %s\n' "$*" >&2; exit 1; }

version() { sed -n 's/^project(callslip VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt"; }

# Seconds since 1970. A zip knows no time before 1980.
source_date() {
  local date=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct 2>/dev/null || true)}
  [[ $date =~ ^[0-9]{1,10}$ ]] ||
    die "set SOURCE_DATE_EPOCH to the seconds since 1970 of this version: there is no commit to ask"
  echo $((date > 315532800 ? date : 315532800))
}

# As npm and the names of bundles have it.
platform() {
  case $(uname -m) in
    x86_64) echo linux-x64 ;;
    aarch64) echo linux-arm64 ;;
    *) die "there is no bundle for $(uname -m)" ;;
  esac
}

# zip_folder FOLDER FILE: what may be executed stays so; nothing else of the machine gets into FILE.
zip_folder() {
  local folder=$1 file=$2 date
  date=$(source_date)
  find "$folder" -type f -perm /111 -exec chmod 755 {} +
  find "$folder" -type f ! -perm /111 -exec chmod 644 {} +
  find "$folder" -exec touch --no-dereference --date="@$date" {} +
  rm -f "$file"
  (cd "$folder" && find . -type f -printf '%P\n' | sort | zip -q -9 -X -D "$file" -@)
  echo "$file"
}

# out_folder OUT: its absolute path, once it is there.
out_folder() { mkdir -p "$1" && (cd "$1" && pwd); }

extension() {
  local out
  out=$(out_folder "$1")
  mkdir "$work/extension"
  (cd "$ROOT/extension" && find . -type f ! -path '*/node_modules/*' ! -name '.*' \
    ! -path ./README.md ! -path ./package.json -exec cp --parents -t "$work/extension" {} +)
  # The store refuses the key, as it gives each extension its own.
  sed --in-place '/^  "key": /d' "$work/extension/manifest.json"
  zip_folder "$work/extension" "$out/callslip-extension-$(version).zip"
}

is_elf() { [[ $(head --bytes=4 "$1" | tail --bytes=3) == ELF ]]; }

mcpb() {
  local bin=$1 out program said
  out=$(out_folder "$2")
  mkdir -p "$work/mcpb/bin"
  for program in callslip-bridge callslip-gateway callslip-tracker; do
    [[ -x $bin/$program ]] || die "$bin has no $program"
    said=$("$bin/$program" --version </dev/null) || die "$bin/$program does not run here"
    [[ $said == "$program $(version)" ]] || die "$bin/$program says \"$said\": build $(version) first"
    cp "$bin/$program" "$work/mcpb/bin/"
    if is_elf "$bin/$program"; then strip --strip-unneeded "$work/mcpb/bin/$program"; fi
  done
  cp "$ROOT/deploy/mcpb/manifest.json" "$ROOT/deploy/mcpb/icon.png" "$ROOT/LICENSE" "$work/mcpb/"
  zip_folder "$work/mcpb" "$out/callslip-$(version)-$(platform).mcpb"
}

checksums() {
  local out
  out=$(out_folder "$1")
  (cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\0' | sort -z |
    xargs -0 -r sha256sum) >"$work/SHA256SUMS"
  [[ -s $work/SHA256SUMS ]] || die "there is nothing in $out"
  mv "$work/SHA256SUMS" "$out/SHA256SUMS"
  echo "$out/SHA256SUMS"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case "${1:-} $#" in
  'extension 2' | 'mcpb 3' | 'checksums 2') "$@" ;;
  *) die 'usage: pack.sh extension OUT | mcpb BIN OUT | checksums OUT' ;;
esac
