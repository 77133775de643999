#!/usr/bin/env bash
# Packs existing files into archives that are byte-for-byte the same for the same input. Prints the
# path of each archive.
#   pack.sh deb BUILD OUT      the Debian package of the programs in the build folder BUILD
#   pack.sh extension OUT      the browser extension, for the store
#   pack.sh mcpb BIN OUT       the bundle for desktop clients, of the programs in the folder BIN
#   pack.sh npm BIN OUT        the two packages for npm, of the programs in the folder BIN
#   pack.sh checksums OUT      SHA256SUMS of the files in OUT
# The time of the files is SOURCE_DATE_EPOCH, or else the last commit's.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly ROOT
umask 022
export LC_ALL=C TZ=UTC0

die() { printf 'pack: %s\n' "$*" >&2; exit 1; }

version() { sed -n 's/^project(callslip VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt"; }

# Seconds since 1970. A zip can't store a time before 1980.
source_date() {
  local date=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct 2>/dev/null || true)}
  [[ $date =~ ^[0-9]{1,10}$ ]] ||
    die "set SOURCE_DATE_EPOCH to the seconds since 1970 of this version: there is no commit to ask"
  echo $((date > 315532800 ? date : 315532800))
}

# The platform's name as in npm and in the names of bundles.
platform() {
  case $(uname -m) in
    x86_64) echo linux-x64 ;;
    aarch64) echo linux-arm64 ;;
    *) die "there is no bundle for $(uname -m)" ;;
  esac
}

# level FOLDER: keeps of each mode only the executable bit, and gives all files one time.
level() {
  local date
  date=$(source_date)
  find "$1" -type f -perm /111 -exec chmod 755 {} +
  find "$1" -type f ! -perm /111 -exec chmod 644 {} +
  find "$1" -exec touch --no-dereference --date="@$date" {} +
}

# zip_folder FOLDER FILE: no other data of the machine gets into FILE.
zip_folder() {
  local folder=$1 file=$2
  level "$folder"
  rm -f "$file"
  (cd "$folder" && find . -type f -printf '%P\n' | sort | zip -q -9 -X -D "$file" -@)
  echo "$file"
}

# out_folder OUT: makes it, and prints its absolute path.
out_folder() { mkdir -p "$1" && (cd "$1" && pwd); }

# copy_extension FOLDER: the extension's files that a browser needs.
copy_extension() {
  mkdir -p "$1"
  (cd "$ROOT/extension" && find . -type f ! -path '*/node_modules/*' ! -name '.*' \
    ! -path ./README.md ! -path ./package.json -exec cp --parents -t "$1" {} +)
}

extension() {
  local out
  out=$(out_folder "$1")
  copy_extension "$work/extension"
  # The store refuses the key, since it assigns each extension its own.
  sed --in-place '/^  "key": /d' "$work/extension/manifest.json"
  zip_folder "$work/extension" "$out/callslip-extension-$(version).zip"
}

is_elf() { [[ $(head --bytes=4 "$1" | tail --bytes=3) == ELF ]]; }

# copy_program FILE FOLDER
copy_program() {
  [[ -x $1 ]] || die "${1%/*} has no ${1##*/}"
  cp "$1" "$2/"
  if is_elf "$1"; then strip --strip-unneeded "$2/${1##*/}"; fi
}

# copy_programs BIN FOLDER NAME...: fails unless they are of this version.
copy_programs() {
  local bin=$1 folder=$2 program said
  mkdir -p "$folder"
  for program in "${@:3}"; do
    copy_program "$bin/$program" "$folder"
    said=$("$bin/$program" --version </dev/null) || die "$bin/$program does not run here"
    [[ $said == "$program $(version)" ]] || die "$bin/$program says \"$said\": build $(version) first"
  done
}

# CPack sets the time of the package's files to SOURCE_DATE_EPOCH, and their modes by this umask.
deb() {
  local build out file
  build=$(cd "$1" && pwd)
  out=$(out_folder "$2")
  SOURCE_DATE_EPOCH=$(source_date)
  export SOURCE_DATE_EPOCH
  cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/deb" >"$work/log" 2>&1 ||
    { tail --lines=30 "$work/log" >&2; die "cpack could not make a package of $build"; }
  file=$(echo "$work"/deb/*.deb)
  cp "$file" "$out/"
  echo "$out/${file##*/}"
}

mcpb() {
  local out
  out=$(out_folder "$2")
  copy_programs "$1" "$work/mcpb/bin" callslip-bridge callslip-gateway callslip-tracker
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

# shellcheck source=deploy/release/npm.sh
source "$ROOT/deploy/release/npm.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case "${1:-} $#" in
  'deb 3' | 'extension 2' | 'mcpb 3' | 'npm 3' | 'checksums 2') "$@" ;;
  *) die 'usage: pack.sh deb BUILD OUT | extension OUT | mcpb BIN OUT | npm BIN OUT | checksums OUT' ;;
esac
