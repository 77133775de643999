/**
 * An agent that tries to leave its wrapper and its session's directory, by every kind of request.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { AgentSessions, RunnerProcess, scriptedAgent, until } from './support/runner.js';
import { Services } from './support/services.js';

/** Each removes the network: a program's network namespace shows whether it runs in the wrapper. */
const WRAPPERS = {
  bwrap: ['bwrap', '--dev-bind', '/', '/', '--unshare-net'],
  unshare: ['unshare', '--user', '--map-root-user', '--net'],
  'nice and bwrap': ['nice', '-n', '1', 'bwrap', '--dev-bind', '/', '/', '--unshare-net'],
};
const NAMESPACE = 'readlink /proc/self/ns/net';
const SECRET = 'what no agent is to read';

/** The reason why programs can't be confined on this machine, if there is one. */
const hindrance = ([program, ...options]) => {
  try {
    execFileSync(program, [...options, 'true'], { stdio: 'pipe' });
    return false;
  } catch (error) {
    return `${program}: ${error.stderr ?? error.message}`;
  }
};

for (const [name, wrapper] of Object.entries(WRAPPERS)) {
  describe(`an agent wrapped in ${name}`, { timeout: stretched(120_000), skip: hindrance(wrapper) }, () => {
    let services;
    let runner;
    let sessions;
    let secret;
    before(async () => {
      services = await Services.open();
      runner = await RunnerProcess.open(services, {
        agents: { scripted: { command: scriptedAgent({}), wrapper, mcp: [] } },
        workspace: { max_running: 20, allow_fresh: true },
        limits: { running_agents: 20 },
      });
      secret = join(runner.folder, 'secret');
      await writeFile(secret, SECRET);
      await runner.stop();
      const { scripted } = runner.config.agents;
      await runner.configure({
        agents: { scripted: { ...scripted, env: {
          ...scripted.env, PATH: `${join(runner.dir, 'first')}:bin:${process.env.PATH}` } } },
        workspaces: {
          ...runner.config.workspaces,
          team: { dir: join(runner.dir, 'team'), max_running: 20 },
        },
      });
      await mkdir(join(runner.dir, 'team'));
      await runner.start();
      sessions = new AgentSessions(services, runner);
    });
    after(() => services?.close());

    /** A session in a folder of its own, which its agents may rename. */
    const begin = async (folder) => {
      const dir = join(runner.dir, folder);
      await mkdir(dir, { recursive: true });
      return { dir, id: await sessions.begin({ working_dir: dir }) };
    };
    const play = async (id, script) => {
      const before = (await sessions.turns(id)).length;
      await sessions.say(id, script);
      const turn = (await sessions.ended(id, before + 1))[before];
      return { ...turn, answer: await sessions.answer(id) };
    };
    /** The agent of a session without a valid directory: its message waits in a paused queue. */
    const refused = async (id, script) => {
      await sessions.say(id, script);
      return until(async () => {
        const { agent, pause_reason: reason } = await sessions.call('GET', `/sessions/${id}`);
        return reason === 'directory_unusable' && agent.status === 'failed' && agent;
      });
    };
    const read = (path) => ({ call: 'fs/read_text_file', params: { path } });
    const write = (path, content = 'written') =>
      ({ call: 'fs/write_text_file', params: { path, content } });
    /**
     * Runs a command line, or words, in the terminal of this number to its end, and says its
     * output.
     */
    const terminal = (number, line, env = {}) => {
      const terminalId = `terminal-${number}`;
      const [command, ...args] = [line].flat();
      return [
        { call: 'terminal/create', params: { command, args, env:
          Object.entries(env).map(([variable, value]) => ({ name: variable, value })) } },
        { call: 'terminal/wait_for_exit', params: { terminalId } },
        { call: 'terminal/output', params: { terminalId } },
        { call: 'terminal/release', params: { terminalId } },
      ];
    };
    const own = () => readlinkSync('/proc/self/ns/net');
    /** The namespaces of runs of the programs that the agent has replaced. */
    const ran = (dir) => (existsSync(join(dir, 'ran')) ? readFileSync(join(dir, 'ran'), 'utf8') : '')
      .split('\n').filter(Boolean);

    test('runs its commands inside the wrapper', () => services.step(async () => {
      const { id } = await begin('plain');
      const { outcome, answer } = await play(id, terminal(1, NAMESPACE));
      assert.equal(outcome, 'completed');
      assert.match(answer, /net:\[\d+\]/);
      assert.doesNotMatch(answer, new RegExp(own().replaceAll(/[[\]]/g, '\\$&')));
    }));

    test('cannot replace a program that runs outside the wrapper', () => services.step(async () => {
      const { dir, id } = await begin('path');
      const names = [...wrapper.filter((word) => /^[a-z]+$/.test(word)), 'callslip-keeper', 'sh', 'env', 'cat',
        'readlink'];
      const { answer } = await play(id, [
        ...names.map((program) => write(join(dir, 'evil', program),
          `#!/bin/sh\n/usr/bin/readlink /proc/self/ns/net >> ${dir}/ran\n`)),
        ...terminal(1, 'chmod +x evil/*'),
        ...terminal(2, ['/bin/sh', '-c', '/usr/bin/readlink /proc/self/ns/net; echo $OWN'],
          { PATH: `${dir}/evil:/usr/bin:/bin`, OWN: "it's own", ENV: `${dir}/evil/sh` }),
        // By its name, so that one replaced program does run: in the wrapper.
        ...terminal(3, 'readlink', { PATH: `${dir}/evil` }),
      ]);
      assert.match(answer, /it's own/);
      assert.notDeepEqual(ran(dir), []);
      assert.deepEqual(ran(dir).filter((namespace) => namespace === own()), []);
    }));

    test('finds programs in its own folder of PATH, but its wrapper does not', () => services.step(async () => {
      const { dir, id } = await begin('first');
      const words = ['own', 'callslip-keeper', ...wrapper.filter((word) => /^[a-z]+$/.test(word))];
      const replace = [
        ...words.map((program) => write(join(dir, program),
          `#!/bin/sh\n/usr/bin/readlink /proc/self/ns/net >> ${dir}/ran\n`)),
        ...terminal(1, 'chmod +x *'),
      ];
      assert.equal((await play(id, replace)).outcome, 'completed');
      assert.equal((await play(id, terminal(2, 'own', { SET: '1' }))).outcome, 'completed');
      assert.equal((await play(id, terminal(3, 'own; echo $PATH'))).outcome, 'completed');
      assert.ok((await sessions.answer(id)).includes(`${dir}:bin:`), 'PATH is its own');
      assert.equal(ran(dir).length, 2);
      // Nor in another session.
      const other = await begin('second');
      assert.equal((await play(other.id, terminal(1, 'true'))).outcome, 'completed');
      assert.deepEqual(ran(dir).filter((namespace) => namespace === own()), []);
    }));

    test('passes no loader variable to the wrapper or the keeper', () => services.step(async () => {
      const { dir, id } = await begin('preload');
      // With this variable the loader records each program that it starts.
      await play(id, terminal(1, 'true && true', { LD_DEBUG: 'files', LD_DEBUG_OUTPUT: `${dir}/loader` }));
      const programs = readdirSync(dir).filter((file) => file.startsWith('loader'))
        .flatMap((file) => [...readFileSync(join(dir, file), 'utf8')
          .matchAll(/initialize program: (\S+)/g)].map(([, program]) => program));
      assert.ok(programs.includes('sh'), `${programs}`);
      assert.deepEqual(programs.filter((program) => /bwrap|unshare|keeper|cat/.test(program)), []);
    }));

    test('cannot read or write outside its directory, even if it replaces the directory', () =>
      services.step(async () => {
        const { dir, id } = await begin('swapped');
        const outside = join(runner.folder, 'outside');
        const { outcome, answer } = await play(id, [
          write(join(dir, 'kept'), 'mine'),
          ...terminal(1, `ln -s / root; ln -s ${secret} linked; ln -s ../../secret up`),
          read(secret), read(`${dir}/../../secret`), read(`${dir}/root${secret}`),
          read(`${dir}/linked`), read(`${dir}/up`), write(`${dir}/root${outside}`),
          write(`${dir}/linked`), write(`${dir}/up`),
          ...terminal(2, `mv ${dir} ${dir}.was && ln -s / ${dir}`),
          read(dir + secret), write(dir + outside), read(join(dir, 'kept')),
          { call: 'terminal/create', params: { command: 'pwd', cwd: join(dir, '/tmp') } },
          ...terminal(3, 'pwd'),
        ]);
        assert.equal(outcome, 'completed');
        assert.match(answer, /"content":"mine"/);
        assert.ok(answer.includes(`${dir}.was`), answer);
        assert.ok(!existsSync(outside));
        assert.equal(readFileSync(secret, 'utf8'), SECRET);
        // Nor after its agent is started again.
        assert.equal((await play(id, [{ exit: 3 }])).outcome, 'failed');
        await sessions.queue(id, 'resume');
        const { message } = await refused(id, [read(dir + secret)]);
        assert.match(message, /swapped leads out of .*work$/);
        assert.ok(!JSON.stringify(await sessions.events(id)).includes(SECRET));
        // Until the directory is restored.
        await rm(dir);
        await rename(`${dir}.was`, dir);
        await sessions.queue(id, 'resume');
        await sessions.ended(id, 3);
        assert.match((await play(id, [read(join(dir, 'kept'))])).answer, /"content":"mine"/);
      }));

    test('cannot redirect a workspace by replacing its directory', () => services.step(async () => {
      const { id } = await begin('outer');
      const team = join(runner.dir, 'team');
      await play(id, terminal(1, `rmdir ${team} && ln -s / ${team}`));
      assert.equal(readlinkSync(team), '/');
      const inner = await sessions.begin({ working_dir: team + runner.folder });
      await refused(inner, [read(team + secret)]);
      assert.ok(!JSON.stringify(await sessions.events(inner)).includes(SECRET));
      // The user restores the directory and resumes the queue.
      await rm(team);
      await mkdir(team + runner.folder, { recursive: true });
      await sessions.queue(inner, 'resume');
      await sessions.ended(inner, 1);
      assert.match(await sessions.answer(inner), /is not there/);
    }));

    test('cannot write to another file through a hard link', () => services.step(async () => {
      const { dir, id } = await begin('linked');
      const other = join(dir, '../linked-to');
      await writeFile(other, 'before');
      await play(id, [...terminal(1, `ln ${other} hard`), write(join(dir, 'hard'), 'after')]);
      assert.equal(readFileSync(other, 'utf8'), 'before');
      assert.equal(readFileSync(join(dir, 'hard'), 'utf8'), 'after');
    }));

    test('keeps a background process until its terminal is released', () => services.step(async () => {
      const { dir, id } = await begin('background');
      const alive = () => {
        try {
          return process.kill(Number(readFileSync(join(dir, 'pid'), 'utf8')), 0);
        } catch {
          return false;
        }
      };
      const [create, wait, output, release] = terminal(1, 'nohup sleep 300 >/dev/null 2>&1 & echo $! > pid');
      const { answer } = await play(id, [create, wait, output]);
      assert.match(answer, /"exitCode":0/);
      await play(id, [{ say: 'a turn later' }]);
      assert.ok(alive());
      await play(id, [release]);
      await until(() => !alive());
    }));
  });
}
