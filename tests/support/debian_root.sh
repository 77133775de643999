# A fresh Debian 12 as a tarball, made from the package archive and kept for the next time. Sourced
# by tests that have sourced checks.sh; only root can make one.
# shellcheck shell=bash

readonly BASE_SUITE=bookworm
CACHE_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/callslip

# The path of the tarball, made where it is missing. It takes over the host's package sources and
# proxy settings, the only ones known to work on this machine, and is made anew when they change.
base_tarball() {
  local tarball
  tarball=$CACHE_DIR/$BASE_SUITE-$(apt_settings).tar
  if [[ ! -s $tarball ]]; then
    progress "making a Debian $BASE_SUITE from its packages"
    make_base_tarball "$tarball"
  fi
  printf '%s\n' "$tarball"
}

apt_settings() { (host_sources; host_apt_options) | sha256sum | cut -c 1-16; }

make_base_tarball() {
  local tarball=$1 work
  work=$(mktemp --directory)
  mkdir -p "$CACHE_DIR"
  host_sources >"$work/sources.list"
  host_apt_options >"$work/apt.conf"
  # Without sources of the host's (it may not be a Debian), mmdebstrap falls back on its own.
  local -a sources=()
  [[ ! -s $work/sources.list ]] || sources=("$work/sources.list")
  if ! mmdebstrap --quiet --variant=minbase --aptopt="$work/apt.conf" \
      "$BASE_SUITE" "$work/base.tar" "${sources[@]}" 2>"$work/log"; then
    cat "$work/log" >&2
    die "the base image could not be made"
  fi
  mv "$work/base.tar" "$tarball"
  rm -rf "$work"
}

# The host's sources of Debian packages, one a line. Other vendors' sources are left out.
host_sources() {
  # shellcheck disable=SC2016  # apt fills these names in, not the shell.
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' |
    grep -E " $BASE_SUITE(-updates|-security)? " | sort -u || true
}

# The host's settings about fetching packages: proxies, time-outs, checks of dates.
host_apt_options() {
  apt-config dump --no-empty | grep -E '^Acquire::(https?|Check-|Retries|Force)' || true
}
