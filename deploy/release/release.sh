#!/usr/bin/env bash
# Makes all parts of a release, in order, and ends at the first step that fails. Publishes nothing:
# at the end it prints the steps to do by hand.
#   release.sh [--try]     --try: also with uncommitted changes, or with a section of the change log
#                          that has no date
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() { printf 'release: %s\n' "$*" >&2; exit 1; }
step() { printf '\n==> %s\n' "$*" >&2; }

trial=
case $*:$# in
  :0) ;;
  --try:1) trial=1 ;;
  *) die 'usage: ./dev release [--try]' ;;
esac

check_versions() {
  ./dev version check
  [[ -z $trial ]] || return 0
  [[ -z $(git status --porcelain) ]] || die "there are changes: commit them first, or --try"
  grep -qE "^## \[${version//./\\.}\] - [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
    die "write the date of the release into the section [$version] of CHANGELOG.md, or --try"
  ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null ||
    die "v$version is there already: ./dev version set the next one"
}

# Each kind prints the paths of its files.
make_packages() {
  local kind path paths
  rm -rf "$out"
  mkdir -p "$out"
  for kind in deb arm64 mcpb npm extension; do
    paths=$(./dev package "$kind")
    while read -r path; do
      [[ -f $path ]] || die "./dev package $kind made no file"
      cp "$path" "$out/"
    done <<<"$paths"
  done
}

version=$(./dev version)
out=build/packages/$version

step "1 of 4: versions"
check_versions
step "2 of 4: tests"
./dev test --all
step "3 of 4: packages"
make_packages
step "4 of 4: checksums"
deploy/release/pack.sh checksums "$out" >/dev/null
cat "$out/SHA256SUMS"

bundle=$(cd "$out" && echo callslip-*.mcpb)
cat <<TEXT

All is in $out. Nothing was published. By hand, in this order (deploy/release/README.md):

  1. Sign     gpg --detach-sign --armor $out/SHA256SUMS
  2. Tag      git tag --sign v$version --message "Callslip $version", and push it
  3. Upload   all files of $out to where they are downloaded from, URL
  4. Registry node deploy/release/registry_entry.mjs $out/$bundle URL NAMESPACE/callslip >server.json
              mcp-publisher publish
  5. Store    $out/callslip-extension-$version.zip, with the texts of deploy/store
  6. npm      npm publish $out/callslip-linux-x64-$version.tgz, then $out/callslip-$version.tgz
  7. Next     ./dev version set the next one, and begin its section in CHANGELOG.md

TEXT
