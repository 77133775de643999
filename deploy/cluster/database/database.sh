#!/usr/bin/env bash
# The commands of the image `database`:
#   callslip-database secrets         makes the missing files of /secrets, as root
#   callslip-database server ME PEER  runs PostgreSQL; where it has no data yet, db1 makes a database, and
#                                     any other one copies that of PEER and follows it
#   callslip-database promote         has the one of this container, which follows, take over
#   callslip-database wait-for PEER   from now on a commit waits for PEER; '' for nobody
set -euo pipefail
umask 077

readonly DATA=/var/lib/postgresql/data
readonly SECRETS=/etc/callslip
readonly POSTGRES=7901
readonly CALLSLIP=7900
readonly PATIENCE_S=60

say() { printf 'callslip-database: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

random() { openssl rand -hex 32; }

# The authority's key is deleted: it signs nothing else.
make_certificates() {
  local folder
  folder=$(mktemp --directory)
  openssl req -x509 -days 3650 -subj "/CN=Callslip database authority" -noenc -newkey ec \
    -pkeyopt ec_paramgen_curve:P-256 -keyout "$folder/ca-key.pem" -out "$folder/ca.pem" \
    -addext "keyUsage=critical,keyCertSign" 2>/dev/null
  openssl req -x509 -CA "$folder/ca.pem" -CAkey "$folder/ca-key.pem" -days 3650 \
    -subj "/CN=Callslip database" -noenc -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
    -keyout "$1/server-key.pem" -out "$1/server.pem" \
    -addext "subjectAltName=DNS:db1,DNS:db2" -addext "extendedKeyUsage=serverAuth" \
    -addext "basicConstraints=critical,CA:FALSE" 2>/dev/null
  cp "$folder/ca.pem" "$1/ca.pem"
  rm -r "$folder"
}

make_tokens() {
  local role
  for role in "client agent" "worker extension" "viewer viewer" "admin admin" "runner runner" \
    "gateway gateway"; do
    printf '%s %s\n' "$role" "$(random)"
  done
  printf 'session-key - %s\n' "$(random)"
}

secrets() {
  local database=/secrets/database tracker=/secrets/tracker
  # This file gets its name last.
  if [[ -e $tracker/tokens ]]; then return; fi
  local password
  password=$(random)
  make_certificates "$database"
  printf '%s' "$password" >"$database/password"
  printf '%s' "$(random)" >"$database/replication-password"
  printf '*:*:*:callslip:%s\n' "$password" >"$tracker/pgpass"
  cp "$database/ca.pem" "$tracker/ca.pem"
  make_tokens >"$tracker/tokens.new"
  chown --recursive $POSTGRES:$POSTGRES "$database"
  chown --recursive $CALLSLIP:$CALLSLIP "$tracker"
  mv "$tracker/tokens.new" "$tracker/tokens"
  say "certificates, passwords and tokens are made"
}

local_sql() { psql --host=/run/postgresql --username=postgres --no-psqlrc --quiet "$@"; }

# The connection to the other server: over TLS, by its name in the certificate.
peer() {
  printf 'host=%s user=replicator password=%s application_name=%s sslmode=verify-full sslrootcert=%s/ca.pem' \
    "$1" "$(<$SECRETS/replication-password)" "$2" $SECRETS
}

make_database() {
  local name=$1 other=$2
  initdb --pgdata="$DATA.new" --username=postgres --encoding=UTF8 --locale=C \
    --auth-local=peer --auth-host=reject --data-checksums >/dev/null
  cat >>"$DATA.new/pg_hba.conf" <<'TEXT'
hostssl callslip    callslip   all scram-sha-256
hostssl replication replicator all scram-sha-256
hostssl postgres    replicator all scram-sha-256
TEXT
  sed -i '/^host .*reject$/d' "$DATA.new/pg_hba.conf"
  printf "synchronous_standby_names = '%s'\n" "$other" >>"$DATA.new/postgresql.auto.conf"
  pg_ctl --pgdata="$DATA.new" --silent --wait start \
    --options="-c listen_addresses= -c unix_socket_directories=/run/postgresql -c synchronous_standby_names="
  local_sql --dbname=postgres --set=password="$(<$SECRETS/password)" \
    --set=replication="$(<$SECRETS/replication-password)" <<'TEXT'
CREATE ROLE callslip LOGIN PASSWORD :'password';
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication';
CREATE DATABASE callslip OWNER callslip;
TEXT
  pg_ctl --pgdata="$DATA.new" --silent --wait --mode=fast stop
  mv "$DATA.new" "$DATA"
  say "$name has made the database; commits wait for $other"
}

copy_database() {
  local name=$1 other=$2 until=$((SECONDS + PATIENCE_S))
  until pg_isready --quiet --host="$other"; do
    ((SECONDS < until)) || die "$other, whose database is to be copied, does not answer"
    sleep 1
  done
  rm -rf "$DATA.new"
  pg_basebackup --dbname="$(peer "$other" "$name")" --pgdata="$DATA.new" --checkpoint=fast \
    --wal-method=stream --write-recovery-conf
  # A promoted server, too, waits for no standby until `wait-for` names one.
  printf "synchronous_standby_names = ''\n" >>"$DATA.new/postgresql.auto.conf"
  mv "$DATA.new" "$DATA"
  say "$name follows $other"
}

# Two servers that accept writes would diverge.
refuse_to_be_the_second() {
  [[ ! -e $DATA/standby.signal ]] || return 0
  local follows
  follows=$(psql "$(peer "$1" check) dbname=postgres connect_timeout=3" --no-psqlrc --tuples-only \
    --no-align --command='SELECT pg_is_in_recovery()' 2>/dev/null) || return 0
  [[ $follows == t ]] ||
    die "$1 has taken over, and what is here is of the past: remove this one's volume, and start it again"
}

server() {
  local name=$1 other=$2
  rm -rf "$DATA.new"
  if [[ ! -e $DATA ]]; then
    # Only at the first start of db1. Later, a server without data copies the other one.
    if [[ $name == db1 ]] && ! pg_isready --quiet --host="$other"; then
      make_database "$name" "$other"
    else
      copy_database "$name" "$other"
    fi
  fi
  refuse_to_be_the_second "$other"
  exec postgres -D "$DATA" -c 'listen_addresses=*' -c unix_socket_directories=/run/postgresql \
    -c ssl=on -c ssl_cert_file=$SECRETS/server.pem -c ssl_key_file=$SECRETS/server-key.pem \
    -c ssl_min_protocol_version=TLSv1.2 -c password_encryption=scram-sha-256 \
    -c shared_buffers=256MB -c max_connections=60 -c max_wal_size=1GB -c wal_keep_size=1GB
}

promote() {
  pg_ctl --pgdata="$DATA" --wait promote
  say "takes writes now, and waits for nobody's copy; see docs/scale.md for the way back to two"
}

wait_for() {
  local_sql --dbname=postgres --set=peer="$1" <<'TEXT'
ALTER SYSTEM SET synchronous_standby_names = :'peer';
SELECT pg_reload_conf() \g /dev/null
TEXT
}

case ${1:-} in
  secrets) secrets ;;
  server) server "$2" "$3" ;;
  promote) promote ;;
  wait-for) wait_for "$2" ;;
  *) die "knows secrets, server ME PEER, promote and wait-for PEER" ;;
esac
