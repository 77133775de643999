/**
 * Settings that no program accepts, with or without a database. Each has `name`, `args`, `env`,
 * `file`, `says`.
 */

const one = (name, args, says, more = {}) => ({ name, args: args.split(' ').filter(Boolean), says, ...more });
const DATABASE = '--storage postgres://callslip@db1/callslip';

export const TRACKER_OPTIONS = [
  one('a database and a directory', `${DATABASE} --data-dir FOLDER`, /--storage and --data-dir are two places for the same: name one/),
  one('a database that is to keep nothing', `${DATABASE} --durability memory`, /--durability memory keeps nothing, and --storage everything/),
  one('an option that there is not', '--storages x', /--storages/),
  one('an option without its value', '--storage', /--storage/),
  one('a durability that there is not', '--durability fast', /durability.*memory.*relaxed.*strict/),
  one('other machines without tokens', '--listen 0.0.0.0:0', /refusing to listen on 0.0.0.0:0.*--token-file.*--allow-insecure-bind/),
  one('an address without a port', '--listen 127.0.0.1', /HOST:PORT/),
  one('a port beyond all', '--listen 127.0.0.1:99999', /99999/),
  one('metrics on a socket', '--metrics-listen unix:/tmp/metrics', /--metrics-listen wants HOST:PORT/),
  one('metrics for everybody', '--metrics-listen 0.0.0.0:0', /refusing to serve metrics.*--metrics-allow-insecure-bind/),
  one('a certificate without a key', '--tls-cert FOLDER/ca.pem', /--tls-cert.*--tls-key|--tls-key/),
  one('a key without a certificate', '--tls-key FOLDER/ca-key.pem', /--tls-cert/),
  one('a key of another certificate', '--tls-cert FOLDER/ca.pem --tls-key FOLDER/other-ca-key.pem', /key/),
  one('a certificate in no file', '--tls-cert FOLDER/missing.pem --tls-key FOLDER/ca-key.pem', /missing.pem/),
  one('certificates of callers without tokens', '--tls-cert FOLDER/ca.pem --tls-key FOLDER/ca-key.pem --tls-client-ca FOLDER/ca.pem', /--tls-client-ca needs --token-file/),
  one('memory for nothing', '--memory 64MiB', /memory/),
  one('memory without a number', '--memory much', /bad value "much" for --memory: write a number with MiB or GiB/),
  one('no thread', '--poll-threads 0', /poll-threads.*1.*16/),
  one('a time without a unit', '--ack-wait 5', /ack-wait/),
  one('a time below all', '--schedule-to-start 1ms', /schedule-to-start.*100ms/),
  one('a result that is kept too long', '--result-retention 10m', /result-retention.*9m/),
  one('a word too many', 'serve', /serve/),
  one('a file of settings that there is not', '--config FOLDER/missing.yaml', /missing.yaml/),
  one('a file of settings with an unknown key', '--config FOLDER/c.yaml', /storages/, { file: ['c.yaml', 'storages: x\n', 0o600] }),
  one('a file of settings that is none', '--config FOLDER/c.yaml', /c.yaml/, { file: ['c.yaml', 'listen: [\n', 0o600] }),
  one('a list where one is wanted', '--config FOLDER/c.yaml', /storage/, { file: ['c.yaml', 'storage: [a, b]\n', 0o600] }),
  one('yes and no', '', /storage_without_standby|STORAGE_WITHOUT_STANDBY/i, { env: { CALLSLIP_STORAGE_WITHOUT_STANDBY: 'perhaps' } }),
  one('a variable with a wrong value', '', /CALLSLIP_STORAGE|--storage wants/, { env: { CALLSLIP_STORAGE: 'db1' } }),
];

export const GATEWAY_OPTIONS = [
  one('several trackers, one of them a name', '--tracker 127.0.0.1:1,tracker2.invalid:1', /tracker2.invalid:1 is not one. One name that resolves to all/),
  one('several trackers, one of them a socket', '--tracker 127.0.0.1:1,unix:/tmp/x', /of several trackers each has to be an IPv4 address/),
  one('several trackers over TLS', '--tracker 127.0.0.1:1,127.0.0.1:2 --tls-ca FOLDER/ca.pem', /with TLS, several trackers need one name/),
  one('a tracker without a port', '--tracker 127.0.0.1', /HOST:PORT/),
  one('no tracker', '--tracker ,', /tracker|HOST:PORT/),
  one('an authority of trackers in no file', '--tls-ca FOLDER/missing.pem', /missing.pem/),
  one('a delay that no supervisor waits for', '--drain-delay 6m', /drain-delay.*5m/),
  one('tokens that sign no sessions', '--token-file FOLDER/tokens', /session-key - HEX/, { file: ['tokens', `client agent ${'a'.repeat(64)}\n`, 0o600] }),
  one('tokens that others may read', '--token-file FOLDER/tokens', /chmod|access to it|group/i, { file: ['tokens', `client agent ${'a'.repeat(64)}\nsession-key - ${'0'.repeat(64)}\n`, 0o644] }),
  one('a role that there is not', '--token-file FOLDER/tokens', /line 1.*must begin with session-key, client/, { file: ['tokens', `owner agent ${'a'.repeat(64)}\n`, 0o600] }),
  one('one token of two', '--token-file FOLDER/tokens', /line 2/, { file: ['tokens', `client a ${'a'.repeat(64)}\nviewer b ${'a'.repeat(64)}\nsession-key - ${'0'.repeat(64)}\n`, 0o600] }),
  one('other machines without tokens', '--listen 0.0.0.0:0', /refusing to listen on 0.0.0.0:0.*--token-file/),
];
