#!/usr/bin/env bash
# Builds a package twice, in clones of the last commit with different paths, and compares the bytes.
# The second build uses no ccache, and a different time zone, language and umask. It is not among
# the tests of `./dev test --all`: on two cores it takes about an hour.
#   reproducible_test.sh KIND [FOLDER]   KIND as of `./dev package`: deb, arm64, mcpb, npm, extension.
#                                        With FOLDER the clones stay there, and a new run resumes an
#                                        aborted one
set -euo pipefail

readonly KIND=${1:?which package: deb, arm64, mcpb, npm or extension}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${2:-}
if [[ -z $folder ]]; then
  folder=$(mktemp --directory /tmp/callslip-reproducible.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# package SOURCE CLONE VARIABLE=VALUE...: builds it in CLONE; prints the paths of the packages.
package() {
  local source=$1 clone=$2
  [[ -d $clone ]] || git clone --quiet "$source" "$clone" >&2
  (cd "$clone" && time env "${@:3}" ./dev package "$KIND")
}

umask 022
first=$(package "$root" "$folder/a")
umask 077
second=$(package "$folder/a" "$folder/some/where/else" \
  CCACHE_DISABLE=1 TZ=America/Lima LC_ALL=C.UTF-8)

failed=
while read -r one && read -r other <&3; do
  sha256sum "$one" "$other"
  cmp "$one" "$other" || failed=1
done <<<"$first" 3<<<"$second"
[[ -z $failed ]] || { echo "reproducible_test: they are not the same" >&2; exit 1; }
echo "reproducible_test: the same bytes"
