/**
 * Databases that --storage can't reach, or that are not safe enough. Each has `name`; `storage` of
 * a place (see refused_start_test.mjs); `sql` before it and `undo` after it; `env`; `says`.
 */

const withUrl = (name, change, says) => ({ name, storage: (place) => change(place.url()), says });

/** Without libpq's message: it repeats parts of the URL, such as a password. */
const NO_URL = /--storage is not a URL that libpq can read: look at the names/;

export const ADDRESSES = [
  ['mysql://callslip@db/callslip', 'a URL of another kind of database'],
  ['callslip@db1/callslip', 'a URL without a scheme'],
  ['/var/lib/callslip', 'a folder instead of a URL'],
  ['host=db1 dbname=callslip', 'libpq keywords instead of a URL'],
  ['POSTGRES://callslip@db1/callslip', 'a scheme in capitals'],
  ['postgres:/callslip@db1/callslip', 'a URL with one slash too few'],
  ['postgres://callslip:secret@db1/callslip', 'a password in the URL'],
].map(([storage, name]) => ({
  name, storage: () => storage, says: /--storage wants postgres:\/\/USER@HOST,HOST\/DATABASE; passwords stand in the file/,
})).concat([
  withUrl('a parameter that is unknown to libpq', (url) => `${url}&sslmod=require`, NO_URL),
  withUrl('an unknown sslmode', (url) => `${url}&sslmode=always`, /invalid sslmode value.*always/),
  withUrl('a non-numeric port', (url) => url.replace(/port=\d+/, 'port=many'), /invalid.*port/),
  withUrl('a port above 65535', (url) => url.replace(/port=\d+/, 'port=99999'), /invalid port number.*99999/),
  withUrl('more ports than servers', (url) => url.replace(/port=\d+/, 'port=1,2,3'), /could not match 3 port numbers to 1 hosts/),
  withUrl('a percent sign without digits', (url) => `${url}&application_name=%zz`, NO_URL),
  withUrl('a parameter without a value', (url) => `${url}&user`, NO_URL),
  withUrl('a port without a listener', (url) => url.replace(/port=\d+/, 'port=1'), /No such file|refused.*Is the server running/),
  withUrl('an unresolvable host name', () => 'postgres://callslip@no.such.host.invalid/callslip', /could not translate host name "no.such.host.invalid"/),
  withUrl('a non-numeric time limit', (url) => `${url}&connect_timeout=soon`, /invalid integer value "soon".*connect_timeout/),
  withUrl('a setting that is unknown to the server', (url) => `${url}`.replace('-csearch', '-cno_such%3D1%20-csearch'), /unrecognized configuration parameter "no_such"/),
]);

export const LOGINS = [
  withUrl('a missing database', (url) => `${url}&dbname=missing`, /database "missing" does not exist/),
  withUrl('a missing role', (url) => `${url}&user=missing`, /role "missing" does not exist/),
  { name: 'a role that cannot log in', sql: 'ALTER ROLE ROLE NOLOGIN', says: /is not permitted to log in/ },
  { name: 'a role with a connection limit of 0', sql: 'ALTER ROLE ROLE CONNECTION LIMIT 0', says: /too many connections for role/ },
  { name: 'an expired role', role: 'guarded', storage: (place) => place.guarded(), env: { PGPASSWORD: 'right' },
    sql: "ALTER ROLE guarded VALID UNTIL '2020-01-01'", undo: "ALTER ROLE guarded VALID UNTIL 'infinity'",
    says: /password authentication failed for user "guarded"/ },
  { name: 'no password', storage: (place) => place.guarded(), says: /no password supplied/ },
  { name: 'a wrong password', storage: (place) => place.guarded(), env: { PGPASSWORD: 'wrong' },
    says: /password authentication failed for user "guarded"/ },
  { name: 'a missing password file', storage: (place) => place.guarded(),
    env: { PGPASSFILE: '/nonexistent/pgpass' }, says: /no password supplied/ },
  { name: 'a password file that others can read', storage: (place) => place.guarded(),
    file: ['pgpass', '*:*:*:guarded:right\n', 0o644], env: { PGPASSFILE: 'FOLDER/pgpass' },
    says: /no password supplied/ },
  { name: 'a password file for another user', storage: (place) => place.guarded(),
    file: ['pgpass', '*:*:*:callslip:right\n', 0o600], env: { PGPASSFILE: 'FOLDER/pgpass' },
    says: /no password supplied/ },
  { name: 'a role that pg_hba.conf rejects', storage: (place) => `${place.url()}&user=stranger`,
    says: /pg_hba.conf rejects connection|no pg_hba.conf entry/ },
  { name: 'a database that accepts no connections', storage: (place) => `${place.url()}&dbname=closed`,
    says: /database "closed" is not currently accepting connections/ },
  { name: 'no privilege on the database', storage: (place) => `${place.url('ROLE')}&dbname=private`,
    says: /permission denied for database "private"/ },
  { name: 'a missing schema', storage: (place) => place.url('callslip', 'no_such'),
    says: /may use no schema of its search_path \(no_such\): create it and GRANT USAGE, CREATE on it, or name another/ },
  { name: 'no privilege to create tables', fresh: true,
    sql: 'REVOKE CREATE ON SCHEMA SCHEMA FROM ROLE',
    says: /permission denied for schema.*must be able to make tables/ },
  { name: 'no privilege to use the schema', sql: 'REVOKE ALL ON SCHEMA SCHEMA FROM ROLE',
    says: /may use no schema of its search_path/ },
  { name: 'a read-only role', sql: 'ALTER ROLE ROLE SET default_transaction_read_only = on',
    says: /session is read-only/ },
  { name: 'a server without TLS', storage: (place) => `${place.tls()}&sslmode=require`,
    says: /server does not support SSL, but SSL was required/ },
];

const tls = (more) => (place) => `${place.tls()}&${more}`;

export const TLS = [
  { name: 'a missing certificate authority file', storage: tls('sslmode=verify-full&sslrootcert=FOLDER/missing.pem'),
    says: /root certificate file ".*missing.pem" does not exist/ },
  { name: 'no certificate authority', storage: tls('sslmode=verify-full'), says: /root certificate file ".*" does not exist/ },
  { name: 'a certificate authority file without a certificate',
    file: ['text.pem', 'not a certificate', 0o600],
    storage: tls('sslmode=verify-full&sslrootcert=FOLDER/text.pem'), says: /could not read root certificate file/ },
  { name: 'another certificate authority',
    storage: tls('sslmode=verify-full&sslrootcert=FOLDER/other-ca.pem'),
    says: /certificate verify failed/ },
  { name: 'a certificate for another host name', storage: (place) => `${place.tls('127.0.0.1')}&sslmode=verify-full&sslrootcert=FOLDER/ca.pem`,
    says: /server certificate for "localhost".*does not match host name "127.0.0.1"/ },
  { name: 'a certificate without its key', storage: tls('sslmode=require&sslcert=FOLDER/ca.pem&sslkey=FOLDER/missing.pem'),
    says: /certificate present, but not private key file ".*missing.pem"/ },
  { name: 'a key that others can read', file: ['open-key.pem', 'KEY', 0o644],
    storage: tls('sslmode=require&sslcert=FOLDER/ca.pem&sslkey=FOLDER/open-key.pem'),
    says: /private key file ".*open-key.pem" has group or world access/ },
  { name: 'an unknown TLS version', storage: tls('sslmode=require&ssl_min_protocol_version=TLSv9'),
    says: /invalid ssl_min_protocol_version value/ },
  { name: 'a minimum TLS version above the maximum', storage: tls('sslmode=require&ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2'),
    says: /invalid SSL protocol version range/ },
];

export const PROMISES = [
  { name: 'no synchronous standby', standby: true,
    says: /no synchronous standby.*name one in synchronous_standby_names, or say --storage-without-standby/ },
  { name: 'fsync turned off', system: ['fsync', 'off'], says: /fsync = off, so that a power cut may lose.*set it to on/ },
  { name: 'full_page_writes turned off', system: ['full_page_writes', 'off'], says: /full_page_writes = off.*set it to on/ },
  { name: 'sessions that are read-only by default', system: ['default_transaction_read_only', 'on'],
    says: /session is read-only/ },
  ...['+11s', '-11s', '+1h', '-1d'].map((offset) => ({
    name: `a clock that is off by ${offset}`, env: { FAKETIME: offset },
    says: /clock of this machine and that of the server of --storage are \S+ apart: set both, by NTP/,
  })),
];
