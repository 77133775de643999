import { once } from 'node:events';
import { createServer } from 'node:http';
import grpc from '@grpc/grpc-js';
import otlp from '@opentelemetry/otlp-transformer/build/src/generated/root.js';
import { stretched } from '../../support/patience.js';

// The official protos, as compiled by OpenTelemetry's own package for JavaScript.
const {
  ExportTraceServiceRequest: Request, ExportTraceServiceResponse: Response,
} = otlp.opentelemetry.proto.collector.trace.v1;
const { ExportMetricsServiceRequest: MetricsRequest } = otlp.opentelemetry.proto.collector.metrics.v1;

const PATIENCE_MS = 60_000;

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const empty = Buffer.from(Response.encode(Response.create()).finish());

/** A gRPC service with one method, whose messages are bytes. */
function serviceOf(path) {
  const same = (bytes) => bytes;
  return {
    export: {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  };
}
const TRACES = serviceOf('/opentelemetry.proto.collector.trace.v1.TraceService/Export');
const METRICS = serviceOf('/opentelemetry.proto.collector.metrics.v1.MetricsService/Export');

function valueOf(any) {
  return any.stringValue ?? any.boolValue ?? Number(any.intValue);
}

function attributesOf(attributes) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function exemplarOf({ traceId, spanId, timeUnixNano, asDouble }) {
  return { traceId: hex(traceId), spanId: hex(spanId), time: BigInt(timeUnixNano), value: asDouble };
}

/** A point of a gauge, a sum or a histogram. */
function pointOf(point) {
  const counts = point.bucketCounts?.length > 0
    ? { count: Number(point.count), sum: point.sum, counts: point.bucketCounts.map(Number), bounds: point.explicitBounds }
    : { value: point.asDouble };
  return {
    ...counts,
    labels: attributesOf(point.attributes),
    start: BigInt(point.startTimeUnixNano ?? 0),
    time: BigInt(point.timeUnixNano),
    exemplars: point.exemplars.map(exemplarOf),
  };
}

function metricOf({ name, description, unit, gauge, sum, histogram }) {
  const data = gauge ?? sum ?? histogram;
  return {
    name,
    description,
    unit,
    type: gauge ? 'gauge' : sum ? 'counter' : 'histogram',
    temporality: data.aggregationTemporality,
    isMonotonic: data.isMonotonic,
    points: data.dataPoints.map(pointOf),
  };
}

/** A collector of OTLP over HTTP and gRPC that stores what it receives, as plain objects. */
export class OtlpCollector {
  spans = [];
  /** `{service, resource, metrics}` of each export. */
  exports = [];
  headers = [];
  #waiters = new Set();
  #http = createServer((request, response) => this.#take(request, response));
  #grpc = new grpc.Server();

  static async start() {
    const collector = new OtlpCollector();
    collector.#http.listen(0, '127.0.0.1');
    await once(collector.#http, 'listening');
    collector.httpUrl = `http://127.0.0.1:${collector.#http.address().port}`;
    const serve = (service, take) => collector.#grpc.addService(service, {
      export: ({ request, metadata }, answer) => {
        take(request, metadata.getMap());
        answer(null, empty);
      },
    });
    serve(TRACES, (bytes, headers) => collector.#add(bytes, headers));
    serve(METRICS, (bytes) => collector.#addMetrics(bytes));
    const port = await new Promise((resolve, reject) => {
      collector.#grpc.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
        (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    collector.grpcUrl = `http://127.0.0.1:${port}`;
    return collector;
  }

  /** All spans, once `count` of them satisfy `wanted`. */
  async until(count, wanted = () => true) {
    await this.untilSo(() => this.spans.filter(wanted).length >= count);
    return this.spans;
  }

  /** Waits until `look` returns true for the received data. */
  async untilSo(look) {
    const end = Date.now() + stretched(PATIENCE_MS);
    while (!look()) {
      if (Date.now() > end) {
        throw new Error(`Still not so, with ${this.spans.length} spans: ${look}`);
      }
      await new Promise((resolve) => {
        this.#waiters.add(resolve);
        setTimeout(resolve, end + 1 - Date.now()).unref();
      });
    }
  }

  /** The first export that satisfies `wanted`. */
  async untilExport(wanted) {
    await this.untilSo(() => this.exports.some(wanted));
    return this.exports.find(wanted);
  }

  async close() {
    this.#http.closeAllConnections();
    this.#http.close();
    this.#grpc.forceShutdown();
  }

  async #take(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const known = request.method === 'POST' && ['/v1/traces', '/v1/metrics'].includes(request.url) &&
      request.headers['content-type'] === 'application/x-protobuf';
    if (known && request.url === '/v1/metrics') this.#addMetrics(Buffer.concat(parts));
    else if (known) this.#add(Buffer.concat(parts), request.headers);
    response.writeHead(known ? 200 : 404, { 'Content-Type': 'application/x-protobuf' });
    response.end(empty);
  }

  #add(bytes, headers) {
    this.headers.push(headers);
    for (const { resource, scopeSpans } of Request.decode(bytes).resourceSpans) {
      const { 'service.name': service } = attributesOf(resource.attributes);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          service,
          name: span.name,
          kind: span.kind,
          traceId: hex(span.traceId),
          id: hex(span.spanId),
          parent: hex(span.parentSpanId ?? []),
          start: BigInt(span.startTimeUnixNano),
          end: BigInt(span.endTimeUnixNano),
          attributes: attributesOf(span.attributes),
          links: span.links.map(({ traceId, spanId }) => `${hex(traceId)}-${hex(spanId)}`),
          failed: span.status?.code === 2,
        });
      }
    }
    this.#wake();
  }

  #addMetrics(bytes) {
    for (const { resource, scopeMetrics } of MetricsRequest.decode(bytes).resourceMetrics) {
      const attributes = attributesOf(resource.attributes);
      const metrics = scopeMetrics.flatMap((scope) => scope.metrics.map(metricOf));
      this.exports.push({ service: attributes['service.name'], resource: attributes, metrics });
    }
    this.#wake();
  }

  #wake() {
    for (const waiter of this.#waiters) waiter();
    this.#waiters.clear();
  }
}
