/**
 * Settings that no program accepts, with or without a database. Each has `name`, `args`, `env`,
 * `file`, `says`.
 */

const one = (name, args, says, more = {}) => ({ name, args: args.split(' ').filter(Boolean), says, ...more });
const DATABASE = '--storage postgres://callslip@db1/callslip';

export const TRACKER_OPTIONS = [
  one('a database and a directory', `${DATABASE} --data-dir FOLDER`, /--storage and --data-dir are two places for the same: name one/),
  one('a database and durability in memory only', `${DATABASE} --durability memory`, /--durability memory keeps nothing, and --storage everything/),
  one('an unknown option', '--storages x', /--storages/),
  one('an option without a value', '--storage', /--storage/),
  one('an unknown durability', '--durability fast', /durability.*memory.*relaxed.*strict/),
  one('a non-loopback address without tokens', '--listen 0.0.0.0:0', /refusing to listen on 0.0.0.0:0.*--token-file.*--allow-insecure-bind/),
  one('an address without a port', '--listen 127.0.0.1', /HOST:PORT/),
  one('a port above 65535', '--listen 127.0.0.1:99999', /99999/),
  one('metrics on a Unix socket', '--metrics-listen unix:/tmp/metrics', /--metrics-listen wants HOST:PORT/),
  one('metrics on a non-loopback address', '--metrics-listen 0.0.0.0:0', /refusing to serve metrics.*--metrics-allow-insecure-bind/),
  one('a certificate without a key', '--tls-cert FOLDER/ca.pem', /--tls-cert.*--tls-key|--tls-key/),
  one('a key without a certificate', '--tls-key FOLDER/ca-key.pem', /--tls-cert/),
  one('a key of another certificate', '--tls-cert FOLDER/ca.pem --tls-key FOLDER/other-ca-key.pem', /key/),
  one('a missing certificate file', '--tls-cert FOLDER/missing.pem --tls-key FOLDER/ca-key.pem', /missing.pem/),
  one('a client certificate authority without tokens', '--tls-cert FOLDER/ca.pem --tls-key FOLDER/ca-key.pem --tls-client-ca FOLDER/ca.pem', /--tls-client-ca needs --token-file/),
  one('too little memory', '--memory 64MiB', /memory/),
  one('a non-numeric amount of memory', '--memory much', /bad value "much" for --memory: write a number with MiB or GiB/),
  one('no poll threads', '--poll-threads 0', /poll-threads.*1.*16/),
  one('a time without a unit', '--ack-wait 5', /ack-wait/),
  one('a time below the minimum', '--schedule-to-start 1ms', /schedule-to-start.*100ms/),
  one('a result retention above the maximum', '--result-retention 10m', /result-retention.*9m/),
  one('an unexpected argument', 'serve', /serve/),
  one('a missing configuration file', '--config FOLDER/missing.yaml', /missing.yaml/),
  one('an unknown key in the configuration file', '--config FOLDER/c.yaml', /storages/, { file: ['c.yaml', 'storages: x\n', 0o600] }),
  one('an invalid configuration file', '--config FOLDER/c.yaml', /c.yaml/, { file: ['c.yaml', 'listen: [\n', 0o600] }),
  one('a list instead of a single value', '--config FOLDER/c.yaml', /storage/, { file: ['c.yaml', 'storage: [a, b]\n', 0o600] }),
  one('a flag that is neither true nor false', '', /storage_without_standby|STORAGE_WITHOUT_STANDBY/i, { env: { CALLSLIP_STORAGE_WITHOUT_STANDBY: 'perhaps' } }),
  one('an environment variable with an invalid value', '', /CALLSLIP_STORAGE|--storage wants/, { env: { CALLSLIP_STORAGE: 'db1' } }),
];

export const GATEWAY_OPTIONS = [
  one('several trackers, one of them by host name', '--tracker 127.0.0.1:1,tracker2.invalid:1', /tracker2.invalid:1 is not one. One name that resolves to all/),
  one('several trackers, one of them on a Unix socket', '--tracker 127.0.0.1:1,unix:/tmp/x', /of several trackers each has to be an IPv4 address/),
  one('several trackers over TLS', '--tracker 127.0.0.1:1,127.0.0.1:2 --tls-ca FOLDER/ca.pem', /with TLS, several trackers need one name/),
  one('a tracker without a port', '--tracker 127.0.0.1', /HOST:PORT/),
  one('no tracker', '--tracker ,', /tracker|HOST:PORT/),
  one('a missing certificate authority file', '--tls-ca FOLDER/missing.pem', /missing.pem/),
  one('a drain delay above the maximum', '--drain-delay 6m', /drain-delay.*5m/),
  one('a token file without a session key', '--token-file FOLDER/tokens', /session-key - HEX/, { file: ['tokens', `client agent ${'a'.repeat(64)}\n`, 0o600] }),
  one('a token file that others can read', '--token-file FOLDER/tokens', /chmod|access to it|group/i, { file: ['tokens', `client agent ${'a'.repeat(64)}\nsession-key - ${'0'.repeat(64)}\n`, 0o644] }),
  one('an unknown role', '--token-file FOLDER/tokens', /line 1.*must begin with session-key, client/, { file: ['tokens', `owner agent ${'a'.repeat(64)}\n`, 0o600] }),
  one('the same token for two callers', '--token-file FOLDER/tokens', /line 2/, { file: ['tokens', `client a ${'a'.repeat(64)}\nviewer b ${'a'.repeat(64)}\nsession-key - ${'0'.repeat(64)}\n`, 0o600] }),
  one('a non-loopback address without tokens', '--listen 0.0.0.0:0', /refusing to listen on 0.0.0.0:0.*--token-file/),
];
