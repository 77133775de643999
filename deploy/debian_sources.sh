# The host's sources of Debian packages, for a Debian root that is made on it. Sourced.
# shellcheck shell=bash

# host_sources SUITE: the host's sources of Debian packages for that suite, one a line. Other
# vendors' sources are omitted.
host_sources() {
  local host
  host=$(. /etc/os-release && echo "${VERSION_CODENAME:-$1}")
  # shellcheck disable=SC2016  # apt fills these names in, not the shell.
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' |
    grep -E " $host(-updates|-security)? " | sed -E "s/ $host(-updates|-security)? / $1\1 /" |
    sort -u || true
}

# The host's settings about fetching packages: proxies, time-outs, checks of dates.
host_apt_options() {
  apt-config dump --no-empty | grep -E '^Acquire::(https?|Check-|Retries|Force)' || true
}
