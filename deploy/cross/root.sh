#!/usr/bin/env bash
# Makes a Debian 12 root for arm64, to build with on another machine: the libraries that
# deploy/packages/build.txt names, and their dependencies. They are extracted, not installed: none
# of their programs is run. An existing root stays if it has the same packages and was made in this
# folder.
#   root.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=deploy/debian_sources.sh
source "$here/../debian_sources.sh"

readonly SUITE=bookworm ARCHITECTURE=arm64

die() { printf 'root: %s\n' "$*" >&2; exit 1; }

# The packages of headers and libraries, separated by commas. The others are programs; the host's
# are used.
libraries() {
  sed 's/#.*//' "$here/../packages/build.txt" | grep --only-matching --extended-regexp '[^[:space:]]+-dev\b' |
    paste --serial --delimiters=,
}

fetch() {
  host_sources "$SUITE" >"$work/sources.list"
  host_apt_options >"$work/apt.conf"
  local -a sources=()
  [[ ! -s $work/sources.list ]] || sources=("$work/sources.list")
  mmdebstrap --quiet --variant=extract --architectures="$ARCHITECTURE" --aptopt="$work/apt.conf" \
    --include="$(libraries)" --skip=cleanup/apt/cache "$SUITE" "$root" "${sources[@]}" \
    >"$work/log" 2>&1 || { tail --lines=30 "$work/log" >&2; die "the root could not be made"; }
}

# An absolute link would lead to the host's libraries.
make_links_relative() {
  local link target
  find "$root" -path "$root/dev" -prune -o -type l -lname '/*' -printf '%p\t%l\n' |
    while IFS=$'\t' read -r link target; do
      ln --symbolic --force --no-dereference --relative "$root$target" "$link"
    done
}

# The CMake files of gRPC and civetweb expect their programs beside their libraries. A build runs
# the host's programs.
link_programs() {
  local program
  mkdir -p "$root/usr/bin"
  for program in $(dpkg-query --listfiles protobuf-compiler-grpc civetweb | grep '^/usr/bin/'); do
    ln --symbolic --force "$program" "$root$program"
  done
}

# record_package DEB: records in dpkg's database the libraries by their paths in this root, and the
# dependencies of packages that use them.
record_package() {
  local deb=$1 name info=$root/var/lib/dpkg/info control=$work/control file
  rm -rf "$control"
  dpkg-deb --control "$deb" "$control"
  [[ -f $control/shlibs ]] || return 0
  name=$(dpkg-deb --field "$deb" Package)
  if [[ $(dpkg-deb --field "$deb" Multi-Arch) == same ]]; then name+=:$ARCHITECTURE; fi
  dpkg-deb --fsys-tarfile "$deb" | tar --list | sed "s,^\.,$root,; s,/\$,," >"$info/$name.list"
  for file in shlibs symbols; do
    if [[ -f $control/$file ]]; then cp "$control/$file" "$info/$name.$file"; fi
  done
  { cat "$control/control"; printf 'Status: install ok installed\n\n'; } >>"$root/var/lib/dpkg/status"
}

record_packages() {
  local deb
  rm -rf "$root/var/lib/dpkg"
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  echo 1 >"$root/var/lib/dpkg/info/format"
  for deb in "$root"/var/cache/apt/archives/*.deb; do
    record_package "$deb"
    rm "$deb"
  done
}

[[ $# == 1 ]] || die "usage: root.sh FOLDER"
mkdir -p "$1"
root=$(cd "$1" && pwd)
made="$root $(libraries) $(sha256sum <"${BASH_SOURCE[0]}")"
[[ ! -f $root/made || $(<"$root/made") != "$made" ]] || exit 0
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
rm -rf "$root"
fetch
make_links_relative
link_programs
record_packages
echo "$made" >"$root/made"
