import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../../e2e/support/ports.js';
import { endWithThis } from '../../e2e/support/processes.js';
import { stretched } from '../../support/patience.js';

const PROGRAMS = '/usr/lib/postgresql/15/bin';
const NOBODY = 65534;
const NAMES = ['one', 'two'];
/** The patience for the start of a server, and for a standby to catch up, in ms. */
const PATIENCE_MS = stretched(30_000);

/**
 * Two PostgreSQL servers on unix sockets in a folder of their own, a primary and its synchronous
 * standby; or one alone.
 */
export class Postgres {
  /** The server of each role. */
  roles = { primary: 'one', standby: 'two' };
  log = '';
  #servers = {};
  #ports;

  /** `settings` of the servers, such as `fsync=off`. `onDisk`: on disk instead of in memory. */
  static async start({ standby = true, settings = [], onDisk = false } = {}) {
    const postgres = new Postgres();
    postgres.settings = settings;
    const ports = await freePorts(NAMES.length);
    postgres.#ports = Object.fromEntries(NAMES.map((name, i) => [name, ports[i]]));
    postgres.folder = await mkdtemp(join(!onDisk && existsSync('/dev/shm') ? '/dev/shm' : '/tmp', 'callslip-pg-'));
    // PostgreSQL refuses to run as root.
    if (process.getuid() === 0) await chown(postgres.folder, NOBODY, NOBODY);
    await postgres.#run('initdb', ['--no-sync', '--auth=trust', '--username=callslip',
      '--encoding=UTF8', '--locale=C', '-D', postgres.#data('one')]);
    await postgres.startServer('primary');
    if (standby) await postgres.makeStandby();
    return postgres;
  }

  /** The URL for --storage: whichever of the two accepts writes. */
  get url() {
    return this.urlBy();
  }

  /** The same over these local TCP ports, one for each server; without them over the sockets. */
  urlBy(ports) {
    const own = ports ?? Object.values(this.#ports);
    const hosts = own.map(() => (ports ? '127.0.0.1' : this.folder));
    return `postgres:///postgres?user=callslip&host=${hosts.join(',')}&port=${own.join(',')}`;
  }

  /** The primary's port, also for TCP if its settings have `listen_addresses`. */
  get port() {
    return this.#ports[this.roles.primary];
  }

  /** A file of a server's data folder, such as `pg_hba.conf`. */
  file(name, role = 'primary') {
    return join(this.#data(this.roles[role]), name);
  }

  /** The sockets of the two servers. */
  get sockets() {
    return Object.values(this.#ports).map((port) => join(this.folder, `.s.PGSQL.${port}`));
  }

  async startServer(role) {
    const name = this.roles[role];
    const settings = ['listen_addresses=', `unix_socket_directories=${this.folder}`, 'shared_buffers=32MB',
      'max_connections=60', 'wal_keep_size=512MB', ...this.settings];
    this.#servers[name] = this.#spawn('postgres', ['-D', this.#data(name), '-p', this.#ports[name],
      ...settings.flatMap((setting) => ['-c', setting])]);
    await this.#until(() => this.#answers(role), 'postgres does not start');
  }

  /** Ends a server at once, without completing its transactions. */
  async kill(role) {
    const server = this.#servers[this.roles[role]];
    server.kill('SIGQUIT');
    await server.ended;
  }

  /** Sends a signal to all processes of a server, to freeze or thaw it. */
  signal(role, name) {
    const { pid } = this.#servers[this.roles[role]];
    const children = execFileSync('ps', ['--no-headers', '-o', 'pid', '--ppid', String(pid)], { encoding: 'utf8' });
    for (const one of [pid, ...children.trim().split(/\s+/).map(Number)]) {
      try {
        process.kill(one, name);
      } catch {
        // The process has just ended.
      }
    }
  }

  /** Promotes the standby, which then waits for no copy; the earlier primary has to be gone. */
  async promote() {
    await this.#run('pg_ctl', ['promote', '-w', '-D', this.#data(this.roles.standby)]);
    this.roles = { primary: this.roles.standby, standby: this.roles.primary };
    await this.#waitFor('');
  }

  /** Makes a new synchronous standby from the primary. */
  async makeStandby() {
    const { primary, standby } = this.roles;
    await rm(this.#data(standby), { recursive: true, force: true });
    await this.#run('pg_basebackup', ['-h', this.folder, '-p', this.#ports[primary], '-U', 'callslip',
      '-D', this.#data(standby), '-R', '--checkpoint=fast', '--no-sync',
      '-d', `host=${this.folder} port=${this.#ports[primary]} user=callslip application_name=${standby}`]);
    await this.startServer('standby');
    await this.caughtUp();
    await this.#waitFor(standby);
  }

  /** Waits until the standby follows. */
  async caughtUp() {
    await this.#until(async () => /streaming/.test(await this.sql('SELECT state FROM pg_stat_replication')),
      'the standby does not follow');
  }

  /** The output of a statement, as psql prints it. */
  sql(text, role = 'primary') {
    return this.#run('psql', ['-h', this.folder, '-p', this.#ports[this.roles[role]], '-U', 'callslip', '-d', 'postgres',
      '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', text]);
  }

  /** Runs this script repeatedly with pgbench; returns its log of each transaction. */
  async pgbench(script, options) {
    const [file, log] = ['bench.sql', 'bench.log'].map((name) => join(this.folder, name));
    await writeFile(file, script);
    await this.#run('pgbench', ['--no-vacuum', '--protocol=prepared', '--log', `--log-prefix=${log}`,
      `--file=${file}`, ...options, '-h', this.folder, '-p', this.port, '-U', 'callslip', 'postgres']);
    const [written] = (await readdir(this.folder)).filter((name) => name.startsWith('bench.log'));
    const text = await readFile(join(this.folder, written), 'utf8');
    await rm(join(this.folder, written));
    return text;
  }

  async stop() {
    for (const role of ['standby', 'primary']) {
      if (this.#servers[this.roles[role]]?.exitCode === null) await this.kill(role);
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  async #waitFor(standby) {
    await this.sql(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await this.sql('SELECT pg_reload_conf()');
  }

  #data(name) {
    return join(this.folder, name);
  }

  async #until(look, complaint) {
    const until = performance.now() + PATIENCE_MS;
    while (!await look()) {
      if (performance.now() > until) throw new Error(`${complaint}:\n${this.log}`);
      await pause(50);
    }
  }

  async #answers(role) {
    const port = this.#ports[this.roles[role]];
    const ask = this.#spawn('pg_isready', ['-q', '-h', this.folder, '-p', port, '-U', 'callslip']);
    await ask.ended;
    return ask.exitCode === 0;
  }

  async #run(program, args) {
    const child = this.#spawn(program, args);
    let output = '';
    child.stdout.on('data', (said) => { output += said; });
    await child.ended;
    if (child.exitCode !== 0) throw new Error(`${program} has failed:\n${this.log.slice(-2_000)}`);
    return output;
  }

  #spawn(program, args) {
    const drop = process.getuid() === 0
      ? ['--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups'] : [];
    const child = endWithThis(spawn('setpriv',
      ['--pdeathsig', 'KILL', ...drop, `${PROGRAMS}/${program}`, ...args.map(String)],
      { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' }));
    child.ended = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (said) => { this.log = (this.log + said).slice(-100_000); });
    }
    return child;
  }
}
