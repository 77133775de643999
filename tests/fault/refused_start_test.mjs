/**
 * A hundred settings and databases with which a tracker or a gateway does not start: each is
 * refused at once, with the problem and, where we can give it, advice.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { binary, endWithThis, ServerProcess } from '../e2e/support/processes.js';
import { until } from '../e2e/support/runner.js';
import { stretched } from '../support/patience.js';
import * as connection from './refused/connection.js';
import * as database from './refused/database.js';
import * as options from './refused/options.js';
import { Postgres } from './support/postgres.js';

/** Longer than libpq and the tracker wait for a database that does not answer. */
const PATIENCE_MS = stretched(20_000);
const NOBODY = 65534;
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
/** The role `guarded` has a password; the others need none. */
const HBA = `local all guarded scram-sha-256
local all stranger reject
local all all trust
host all all 127.0.0.1/32 trust
`;

/** The server, and the cases' access to it. */
class Place {
  #cases = 0;

  static async open() {
    const place = new Place();
    place.folder = await mkdtemp(join(tmpdir(), 'callslip-refused-'));
    for (const name of ['ca', 'other-ca']) place.#certificate(name);
    place.postgres = await Postgres.start({ standby: false, settings: ['listen_addresses=127.0.0.1'] });
    await writeFile(place.postgres.file('pg_hba.conf'), HBA);
    await place.postgres.sql(`CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE stranger LOGIN;
      SELECT pg_reload_conf()`);
    for (const name of ['closed', 'private']) await place.postgres.sql(`CREATE DATABASE ${name}`);
    await place.postgres.sql('ALTER DATABASE closed ALLOW_CONNECTIONS false; REVOKE ALL ON DATABASE private FROM public');
    return place;
  }

  /** Gives the server a certificate, after the cases without one. */
  async switchTlsOn() {
    for (const [from, to] of [['ca.pem', 'server.crt'], ['ca-key.pem', 'server.key']]) {
      const path = this.postgres.file(to);
      await copyFile(join(this.folder, from), path);
      await chmod(path, 0o600);
      if (process.getuid() === 0) chownSync(path, NOBODY, NOBODY);
    }
    await this.set('ssl', 'on');
  }

  /** Changes a setting of the whole server; the server applies it a little later. */
  async set(name, value) {
    const before = await this.postgres.sql(`SHOW ${name}`);
    await this.postgres.sql(`ALTER SYSTEM SET ${name} = ${value}`);
    await this.postgres.sql('SELECT pg_reload_conf()');
    await until(async () => await this.postgres.sql(`SHOW ${name}`) !== before);
  }

  url(user = 'callslip', schema = this.schema) {
    return `postgres:///postgres?user=${user}&host=${this.postgres.folder}&port=${this.postgres.port}`
      + `&options=-csearch_path%3D${schema}`;
  }

  guarded() {
    return this.url('guarded');
  }

  tls(host = 'localhost') {
    return `postgres://callslip@${host}:${this.postgres.port}/postgres?options=-csearch_path%3D${this.schema}`;
  }

  /** A schema and a role for one case, with the tables in it unless it is `fresh`. */
  async next({ fresh = false }) {
    this.schema = `cell${++this.#cases}`;
    this.role = `role${this.#cases}`;
    await this.postgres.sql(`CREATE SCHEMA ${this.schema}; CREATE ROLE ${this.role} LOGIN;
      GRANT ALL ON SCHEMA ${this.schema} TO ${this.role}`);
    if (fresh) return;
    const tracker = await ServerProcess.start('callslip-tracker',
      ['--listen', '127.0.0.1:0', '--storage', this.url(), '--storage-without-standby']);
    await tracker.stop();
    await this.postgres.sql(`GRANT ALL ON ALL TABLES IN SCHEMA ${this.schema} TO ${this.role}`);
  }

  /** A case's text with its placeholders filled in. */
  fill(text) {
    return text.replaceAll('SCHEMA.', `${this.schema}.`).replaceAll('SCHEMA SCHEMA', `SCHEMA ${this.schema}`)
      .replaceAll('FROM ROLE', `FROM ${this.role}`).replaceAll('ROLE ROLE', `ROLE ${this.role}`)
      .replaceAll('user=ROLE', `user=${this.role}`).replaceAll('FOLDER', this.folder);
  }

  async close() {
    await this.postgres.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  #certificate(name) {
    execFileSync('openssl', ['req', '-x509', '-days', '2', '-subj', '/CN=localhost', '-noenc', '-newkey', 'ec',
      '-pkeyopt', 'ec_paramgen_curve:P-256', '-addext', 'subjectAltName=DNS:localhost',
      '-keyout', join(this.folder, `${name}-key.pem`), '-out', join(this.folder, `${name}.pem`)],
    { stdio: 'ignore' });
  }
}

/** The message of a program that does not start; fails if it starts. */
async function refusal(program, args, env = {}) {
  const child = endWithThis(spawn(binary(program), args,
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env } }));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
    if (/listening on|standing by/.test(said)) child.kill('SIGTERM');
  });
  const insist = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await once(child, 'close');
  clearTimeout(insist);
  assert.doesNotMatch(said, /listening on|standing by/);
  assert.ok([1, 2].includes(child.exitCode), `it did not end by itself: ${said}`);
  return said.replaceAll('\n', ' ');
}

const clock = (env) => (env?.FAKETIME
  ? { ...env, LD_PRELOAD: FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: '1' } : env);

describe('start checks', () => {
  let place;
  before(async () => { place = await Place.open(); });
  after(() => place.close());

  async function file(content) {
    if (content === undefined) return;
    const [name, text, mode] = content;
    const path = join(place.folder, name);
    await writeFile(path, text === 'KEY' ? await readFile(join(place.folder, 'ca-key.pem')) : text);
    await chmod(path, mode);
  }

  const filled = (env) => Object.fromEntries(
    Object.entries(env ?? {}).map(([name, value]) => [name, place.fill(value)]));

  for (const [group, cases] of Object.entries({ ...connection, ...database })) {
    describe(`callslip-tracker (${group})`, () => {
      before(() => group === 'TLS' && place.switchTlsOn());
      for (const each of cases) {
        test(`refuses to start with ${each.name}`, async () => {
          await place.next(each);
          await file(each.file);
          if (each.sql) await place.postgres.sql(place.fill(each.sql));
          if (each.system) await place.set(...each.system);
          try {
            const storage = place.fill(each.storage?.(place) ?? place.url(place.role));
            const standby = each.standby ? [] : ['--storage-without-standby'];
            const said = await refusal('callslip-tracker',
              ['--listen', '127.0.0.1:0', '--storage', storage, ...standby], clock(filled(each.env)));
            assert.match(said, each.says);
          } finally {
            if (each.undo) await place.postgres.sql(each.undo);
            if (each.system) await place.set(each.system[0], 'DEFAULT');
          }
        });
      }
    });
  }

  // Otherwise the refusals above would prove little.
  test('callslip-tracker starts with a certificate of the right authority', async () => {
    await place.next({ fresh: true });
    const storage = `${place.tls()}&sslmode=verify-full&sslrootcert=${place.folder}/ca.pem`;
    const tracker = await ServerProcess.start('callslip-tracker',
      ['--listen', '127.0.0.1:0', '--storage', storage, '--storage-without-standby']);
    const secured = await place.postgres.sql('SELECT count(*) FROM pg_stat_ssl WHERE ssl');
    assert.ok(Number(secured) > 0);
    await tracker.stop();
  });

  for (const [program, cases] of [['callslip-tracker', options.TRACKER_OPTIONS], ['callslip-gateway', options.GATEWAY_OPTIONS]]) {
    describe(program, () => {
      for (const { name, args, env, says, file: content } of cases) {
        test(`refuses to start with ${name}`, async () => {
          await file(content);
          const listen = args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
          const said = await refusal(program, [...listen, ...args.map((arg) => place.fill(arg))], filled(env));
          assert.match(said, says);
        });
      }
    });
  }
});
