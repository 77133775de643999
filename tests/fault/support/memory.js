import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const MIB = 1 << 20;
const COMPOSE = fileURLToPath(new URL('../../../docker-compose.yml', import.meta.url));

/** The memory limit of a service of docker-compose.yml, in MiB. */
export async function memoryOf(service) {
  const text = await readFile(COMPOSE, 'utf8');
  const [, number, unit] = text.match(
    new RegExp(`^  ${service}:$[^]*?mem_limit: (\\d+)([gm])$`, 'm'));
  return Number(number) * (unit === 'g' ? 1_024 : 1);
}

/**
 * A process's current and peak memory; the used and the spare part of its heap; and the payloads
 * that it stores for callers: in MiB.
 */
export async function memoryNow({ child: { pid } }, metrics) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const page = await (await fetch(...metrics)).text();
  const told = (name) => Number(page.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1] ?? 0) / MIB;
  const system = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) / 1_024;
  return Object.fromEntries(Object.entries({
    resident: system('VmRSS'), most: system('VmHWM'),
    used: told('callslip_heap_in_use_bytes'), spare: told('callslip_heap_spare_bytes'),
    kept: told('callslip_payload_bytes'),
  }).map(([name, mebibytes]) => [name, Math.round(mebibytes)]));
}
