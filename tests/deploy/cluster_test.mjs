/** The files for several trackers are valid and consistent with each other. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { binary } from '../e2e/support/processes.js';
import { problemsOf } from './kubernetes_schema.mjs';
import { root, temporaryFolder } from './support.mjs';

const cluster = join(root, 'deploy/cluster');
const read = (name) => readFileSync(join(cluster, name), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true });
const balancer = read('balancer.cfg');
const manifests = parseAllDocuments(read('kubernetes/callslip.yaml')).map((one) => one.toJS());
const found = (kind, name) => manifests.find((one) => one.kind === kind && one.metadata.name === name);

/** A program's options, from its `--help`. */
function optionsOf(program) {
  const help = execFileSync(binary(`callslip-${program}`), ['--help'], { encoding: 'utf8' });
  return new Set([...help.matchAll(/^ *--([a-z-]+)/gm)].map(([, name]) => name));
}

function assertOptions(program, names) {
  const known = optionsOf(program);
  assert.deepEqual(names.filter((name) => !known.has(name)), []);
}

const fromVariable = (name) => name.replace('CALLSLIP_', '').toLowerCase().replaceAll('_', '-');
const variablesOf = (names) => names.filter((name) => name.startsWith('CALLSLIP_')).map(fromVariable);

/** Parses `512m`, `3Gi`, `3GiB`, and systemd's `3G`: all units are powers of 1024. */
function bytes(text) {
  const [, number, unit] = /^(\d+)([kmg])(?:i?b?)$/i.exec(text);
  return Number(number) * 1024 ** ('kmg'.indexOf(unit.toLowerCase()) + 1);
}

const seconds = (text) => Number(/^(\d+)s$/.exec(text)[1]);
const servicesOf = (prefix) => Object.entries(compose.services).filter(([name]) => name.startsWith(prefix));

describe('the compose file of a cluster', () => {
  test('sets only options that the programs have', () => {
    for (const program of ['tracker', 'gateway']) {
      assertOptions(program, variablesOf(Object.keys(compose.services[`${program}1`].environment)));
    }
  });

  test('has two databases, two gateways and three trackers, all confined', () => {
    assert.deepEqual(['db', 'tracker', 'gateway'].map((prefix) => servicesOf(prefix).length), [2, 3, 2]);
    for (const [name, service] of Object.entries(compose.services)) {
      const confined = [service.read_only, service.cap_drop, service.security_opt];
      assert.deepEqual(confined, [true, ['ALL'], ['no-new-privileges:true']], name);
      assert.ok(service.mem_limit && service.pids_limit, name);
    }
  });

  test('passes the memory limit of each container to its program', () => {
    for (const [name, { mem_limit: limit, environment }] of [...servicesOf('tracker'), ...servicesOf('gateway')]) {
      assert.equal(bytes(environment.CALLSLIP_MEMORY), bytes(limit), name);
    }
  });

  test('connects the balancer, gateways, trackers and databases', () => {
    const [gateway, tracker] = ['gateway1', 'tracker1'].map((name) => compose.services[name]);
    const servers = [...balancer.matchAll(/^ {2}server (\S+) (\S+)$/gm)].map(([, name, address]) => [name, address]);
    assert.deepEqual(servers, servicesOf('gateway').map(([name]) => [name, `${name}:7890`]));
    assert.match(balancer, /bind :7890$/m);
    assert.match(compose.services.balancer.ports[0], /^127\.0\.0\.1:.*:7890$/);
    assert.equal(gateway.environment.CALLSLIP_LISTEN, '0.0.0.0:7890');
    const [name, port] = gateway.environment.CALLSLIP_TRACKER.split(':');
    assert.ok(servicesOf('tracker').every(([, service]) => service.networks.default.aliases.includes(name)));
    assert.equal(tracker.environment.CALLSLIP_LISTEN, `0.0.0.0:${port}`);
    const storage = new URL(tracker.environment.CALLSLIP_STORAGE);
    assert.deepEqual(storage.host.split(','), servicesOf('db').map(([db]) => db));
    assert.equal(storage.searchParams.get('sslmode'), 'verify-full');
    for (const [db, { command }] of servicesOf('db')) {
      assert.ok(read('database/database.sh').includes(`DNS:${db}`), `no certificate is for ${db}`);
      assert.deepEqual(command.slice(1).sort(), servicesOf('db').map(([one]) => one));
    }
    const [checked] = balancer.match(/(?<=hdr Host )\S+/);
    assert.ok(gateway.environment.CALLSLIP_ALLOWED_HOSTS.includes(checked));
    const scraped = tracker.environment.CALLSLIP_METRICS_ALLOWED_HOSTS.split(',');
    assert.deepEqual(scraped, servicesOf('tracker').map(([one]) => `${one}:7901`));
  });

  test('lets a stopping gateway drain until the balancer has noticed', () => {
    const { environment, stop_grace_period: grace } = compose.services.gateway1;
    const [, inter, fall] = /check inter (\d+)s fall (\d+)/.exec(balancer);
    const delay = seconds(environment.CALLSLIP_DRAIN_DELAY);
    assert.ok(delay > inter * fall);
    assert.ok(seconds(grace) > delay + 2);
  });
});

test('HAProxy accepts its configuration', () => {
  const { status, stderr } = spawnSync('/usr/sbin/haproxy', ['-c', '-f', join(cluster, 'balancer.cfg')],
    { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('bash parses the script of the database', () => {
  execFileSync('bash', ['-n', join(cluster, 'database/database.sh')]);
});

describe('the drop-ins for systemd', () => {
  for (const program of ['tracker', 'gateway']) {
    const name = `callslip-${program}`;

    test(`are valid for the unit of the ${program}`, () => {
      const folder = temporaryFolder();
      const unit = readFileSync(join(root, `deploy/debian/${name}.service`), 'utf8');
      mkdirSync(join(folder, `${name}.service.d`));
      cpSync(join(cluster, `systemd/${name}.conf`), join(folder, `${name}.service.d/cluster.conf`));
      // The package's programs and users are not on this machine.
      writeFileSync(join(folder, `${name}.service`), unit.replace(/^(User|Group|Wants|After)=.*\n/gm, ''));
      const drop = join(folder, `${name}.service.d/cluster.conf`);
      writeFileSync(drop, readFileSync(drop, 'utf8').replaceAll(`/usr/bin/${name}`, '/bin/true'));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no',
        join(folder, `${name}.service`)], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      assert.doesNotMatch(stderr, /Unknown|Failed to parse|ignoring/i);
    });

    test(`set only options of the ${program}, and the memory limit of its unit`, () => {
      const settings = parse(read(`systemd/cluster-${program}.yaml`));
      assertOptions(program, Object.keys(settings).map((key) => key.replaceAll('_', '-')));
      assert.match(read(`systemd/${name}.conf`), new RegExp(`--config /etc/callslip/cluster-${program}.yaml$`, 'm'));
      const [, limit] = /^MemoryMax=(.*)$/m.exec(readFileSync(join(root, `deploy/debian/${name}.service`), 'utf8'));
      assert.equal(bytes(settings.memory), bytes(limit));
    });
  }

  test('give gateways the port of the trackers', () => {
    const [, port] = parse(read('systemd/cluster-tracker.yaml')).listen[1].split(':');
    for (const one of parse(read('systemd/cluster-gateway.yaml')).tracker) assert.equal(one.split(':')[1], port);
  });
});

describe('the manifests for Kubernetes', () => {
  const podOf = (kind, name) => found(kind, name).spec.template.spec;
  const PODS = { tracker: podOf('StatefulSet', 'callslip-tracker'), gateway: podOf('Deployment', 'callslip-gateway') };

  test('conform to the Kubernetes schemas', () => {
    for (const one of manifests) assert.deepEqual(problemsOf(one), [], `${one.kind} ${one.metadata.name}`);
  });

  test('are rejected if a field is unknown or has the wrong type', () => {
    const one = structuredClone(found('Deployment', 'callslip-gateway'));
    one.spec.template.spec.containers[0].readinesProbe = {};
    assert.deepEqual(problemsOf(one), ['/spec/template/spec/containers/0/readinesProbe is no field']);
    one.spec.replicas = 'two';
    assert.match(problemsOf(one)[0], /replicas/);
  });

  for (const [program, pod] of Object.entries(PODS)) {
    const [container] = pod.containers;
    const variables = Object.fromEntries(container.env.map(({ name, ...value }) => [name, value]));

    test(`give the ${program} known options and the memory of its container`, () => {
      assertOptions(program, variablesOf(Object.keys(variables)));
      assert.equal(bytes(variables.CALLSLIP_MEMORY.value), bytes(container.resources.limits.memory));
    });

    test(`define the keys, volumes and port that the ${program} uses`, () => {
      const keys = container.env.flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef ?? []);
      for (const { name, key } of keys) assert.ok(found('ConfigMap', name).data[key], key);
      const volumes = pod.volumes.map(({ name }) => name);
      const mounts = [...pod.initContainers, ...pod.containers].flatMap(({ volumeMounts }) => volumeMounts);
      for (const { name } of mounts) assert.ok(volumes.includes(name), name);
      const [port] = variables.CALLSLIP_LISTEN.value.match(/\d+$/);
      assert.ok(container.ports.some(({ containerPort }) => containerPort === Number(port)));
    });
  }

  test('refer only to existing pods and services', () => {
    const labels = new Set(['StatefulSet', 'Deployment'].flatMap((kind) => manifests
      .filter((one) => one.kind === kind).map((one) => one.spec.template.metadata.labels.app)));
    for (const { kind, spec } of manifests) {
      const selector = spec?.selector ?? spec?.podSelector;
      if (selector === undefined) continue;
      assert.ok(labels.has(selector.app ?? selector.matchLabels.app), kind);
    }
    const { value: tracker } = PODS.gateway.containers[0].env.find(({ name }) => name === 'CALLSLIP_TRACKER');
    const [name, port] = tracker.split(':');
    assert.equal(found('Service', name).spec.ports[0].port, Number(port));
    assert.equal(found('StatefulSet', 'callslip-tracker').spec.serviceName, name);
  });
});

test('each alert of a cluster has a section in docs/scale.md', () => {
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8'));
  const alerts = groups.find(({ name }) => name === 'callslip-cluster').rules.map(({ alert }) => alert);
  assert.ok(alerts.length >= 4);
  const scale = readFileSync(join(root, 'docs/scale.md'), 'utf8');
  const sections = [...scale.matchAll(/^### `(Callslip\w+)`$/gm)].map(([, alert]) => alert);
  assert.deepEqual(sections.sort(), alerts.sort());
});

test('the alerts of a cluster fire when they should', (context) => {
  if (spawnSync('promtool', ['--version']).status !== 0) {
    context.skip('promtool is not installed (Debian: prometheus)');
    return;
  }
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'cluster_alerts.yml'],
    { cwd: join(root, 'tests/deploy'), encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});
