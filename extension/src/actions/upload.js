import { fileUnavailable, invalidParams } from '../errors.js';
import { UPLOADED_FILES, UPLOADED_BYTES } from '../limits.js';
import { requireNonEmptyText } from '../params.js';
import { doneTo } from './click.js';

/** Puts files that wait at the gateway into a file input, or drops them on an area that accepts files. */
export const upload = {
  reported: true,

  check(params) {
    requireNonEmptyText(params, 'selector');
    const { files } = params;
    if (!Array.isArray(files) || files.length === 0 || files.length > UPLOADED_FILES) {
      throw invalidParams('files', `must be a list of 1 to ${UPLOADED_FILES} files`);
    }
    if (!files.every(isFile)) throw invalidParams('files', 'must be files that the gateway has');
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (bytes > UPLOADED_BYTES) {
      throw invalidParams('files', `must have at most ${UPLOADED_BYTES} bytes together`);
    }
  },

  async run({ tab, params: { selector, files }, tools, signal, progress, endsAt }) {
    const { pageParts, targets } = tools;
    const target = await targets.find({ tab, selector, need: { need: 'field' }, signal, endsAt });
    const described = files.map(({ name, mime_type }) => ({ name, mime_type }));
    const { data: begun, url } = await targets.act(tab, target, 'files.begin', [described]);
    const place = { frameId: target.frameId, documentId: target.documentId };
    const call = (method, args) => pageParts.call(tab.id, place, `files.${method}`, args);
    const total = files.reduce((sum, { size }) => sum + size, 0);
    let done = 0;
    for (const [index, file] of files.entries()) {
      for (let offset = 0; offset < file.size;) {
        const base64 = await piece(tools.gatewayFiles, file, offset, signal);
        if (signal.aborted) return undefined;
        await call('add', [index, base64]);
        const bytes = bytesIn(base64);
        offset += bytes;
        done += bytes;
        progress(`${done} of ${total} bytes`, done / total);
      }
    }
    await call('put', []);
    const names = files.map(({ name }) => name).join(', ');
    const verb = begun.isDrop ? `dropped ${names} on` : `uploaded ${names} to`;
    const into = begun.into ? `, into ${begun.into}` : '';
    return { url, data: { done: `${doneTo(verb, begun.said, target, selector)}${into}` } };
  },
};

function isFile(file) {
  const { file_id: id, name, mime_type: type, size } = file ?? {};
  const areTexts = [id, name, type].every((text) => typeof text === 'string');
  return areTexts && id !== '' && Number.isInteger(size) && size >= 0;
}

const bytesIn = (base64) => base64.length / 4 * 3 - (base64.match(/=*$/)[0].length);

async function piece(gatewayFiles, { file_id: id, name, size }, offset, signal) {
  const { base64, size: there } = await gatewayFiles.read(id, offset, signal);
  if (there !== size || typeof base64 !== 'string' || base64 === '') {
    throw fileUnavailable(`The gateway has another ${name} than was named.`);
  }
  return base64;
}
