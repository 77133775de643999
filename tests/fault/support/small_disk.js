import { execFile } from 'node:child_process';
import { mkdtemp, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A small file system in memory. Only root can mount one. */
export class SmallDisk {
  static async mount(kibibytes) {
    if (process.getuid() !== 0) throw new Error('This test mounts a file system: run it as root.');
    const disk = new SmallDisk();
    disk.path = await mkdtemp(join(tmpdir(), 'callslip-disk-'));
    disk.#ballast = join(disk.path, 'ballast');
    await run('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'callslip-test', disk.path]);
    return disk;
  }

  #ballast;

  /** Fills the rest of the disk. */
  async fill() {
    const { bavail, bsize } = await statfs(this.path);
    await writeFile(this.#ballast, Buffer.alloc(bavail * bsize));
  }

  async free() {
    await rm(this.#ballast);
  }

  async makeReadOnly() {
    await run('mount', ['-o', 'remount,ro', this.path]);
  }

  async unmount() {
    await run('umount', ['--lazy', this.path]);
    await rmdir(this.path);
  }
}
