/** Finds what `kubectl apply --dry-run=server` finds, without a cluster. */
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';

const MODELS = { v1: core, 'apps/v1': apps, 'policy/v1': policy, 'networking.k8s.io/v1': networking };

/** Records the path of each field of `value` that the caller reads, in `asked`. */
function listening(value, path, asked) {
  if (value === null || typeof value !== 'object') return value;
  return new Proxy(value, {
    get(target, key) {
      if (typeof key === 'string') asked.add(`${path}/${key}`);
      return listening(target[key], `${path}/${String(key)}`, asked);
    },
  });
}

function pathsOf(value, path = '') {
  if (value === null || typeof value !== 'object') return [];
  return Object.keys(value).flatMap((key) => [`${path}/${key}`, ...pathsOf(value[key], `${path}/${key}`)]);
}

/**
 * The problems of an object; empty if there are none. The schemas ignore unknown fields: they are
 * the fields that the validation has not read.
 */
export function problemsOf(object) {
  const Model = MODELS[object.apiVersion]?.[object.kind];
  if (Model === undefined) return [`${object.apiVersion} ${object.kind} is not known`];
  const asked = new Set();
  try {
    Model.prototype.validate.call(listening(object, '', asked));
  } catch (error) {
    return [error.message];
  }
  return pathsOf(object).filter((path) => !asked.has(path)).map((path) => `${path} is no field`);
}
