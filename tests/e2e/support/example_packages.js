/**
 * For `node --import`: programs outside of this folder find gRPC among the packages of the tests,
 * so the examples need none of their own.
 */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Node loads this file a second time, in a thread of its own, to call the hook.
if (isMainThread) register(import.meta.url);

export function resolve(specifier, context, next) {
  const isOurs = specifier.startsWith('@grpc/');
  return next(specifier, isOurs ? { ...context, parentURL: import.meta.url } : context);
}
