/** Where the gateway exports to, and what it says of itself: settings of its configuration file, and a collector that receives requests over HTTP. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import { startGrpcCollector } from '../../stack/collectors/grpc-collector.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const TOKEN = 'Bearer a-token-of-the-collector';
const SUBGRAPH = { only: { sdl: 'type Query { one: Int }', resolvers: { Query: { one: () => 1 } } } };

let folder: string;
let collector: Collector;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-telemetry-'));
  collector = await startCollector();
});
afterAll(async () => {
  await collector.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a gateway with a section `telemetry`, and stops it once the export is complete; by default, when the collector has all three signals. */
async function exportWith(telemetry: object, isComplete = hasAllSignals(collector.requests.length)): Promise<{ readonly logged: string }> {
  const file = join(folder, 'trestle.json');
  await writeFile(file, JSON.stringify({ telemetry: { otlpEndpoint: collector.endpoint, ...telemetry } }));
  const federation: Federation = await startFederation(SUBGRAPH, {
    args: ['--config', file],
    env: { COLLECTOR_TOKEN: TOKEN, LOG_LEVEL: 'debug', OTEL_METRIC_EXPORT_INTERVAL: '1000' },
  });
  try {
    await federation.ask('query Exported { one }');
    await until(() => Promise.resolve(isComplete()));
    return { logged: federation.gateway.lines.join('\n') };
  } finally {
    await federation.stop();
  }
}

/** Returns whether the collector has got all signals since its first so many requests. */
const hasAllSignals = (before: number) => () =>
  ['traces', 'metrics', 'logs'].every((signal) => collector.requests.slice(before).some(({ path }) => path.endsWith(signal)));

const ALL_SIGNALS = { metrics: { exporter: 'otlp' }, logs: { exporter: 'otlp' } };

describe('the section telemetry of a configuration file', () => {
  it('sets the name, the attributes and the headers of everything that is exported, and the log has no header', async () => {
    const begin = collector.requests.length;
    const { logged } = await exportWith({
      ...ALL_SIGNALS,
      serviceName: 'shop-graph',
      resourceAttributes: { 'deployment.environment.name': 'test, west=1', 'service.instance.id': 'one' },
      headers: { Authorization: '${COLLECTOR_TOKEN}' },
      logs: { exporter: 'otlp', endpoint: `${collector.endpoint}/elsewhere/logs` },
    });
    const requests = collector.requests.slice(begin);
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces', '/v1/metrics', '/elsewhere/logs']));
    for (const { headers, body } of requests) {
      expect(headers).toMatchObject({ authorization: TOKEN, 'content-type': 'application/json' });
      const [exported] = Object.values(JSON.parse(body.toString()) as Record<string, [{ resource: { attributes: unknown } }]>);
      expect(exported?.[0].resource.attributes).toEqual(
        expect.arrayContaining([
          { key: 'service.name', value: { stringValue: 'shop-graph' } },
          { key: 'service.instance.id', value: { stringValue: 'one' } },
          { key: 'deployment.environment.name', value: { stringValue: 'test, west=1' } },
        ]),
      );
    }
    expect(logged).not.toContain(TOKEN.slice('Bearer '.length));
  });

  it('exports protobuf with the protocol http/protobuf', async () => {
    const begin = collector.requests.length;
    await exportWith({ ...ALL_SIGNALS, protocol: 'http/protobuf' });
    const requests = collector.requests.slice(begin);
    for (const { headers, body } of requests) {
      expect(headers['content-type']).toBe('application/x-protobuf');
      // Each of the three requests has a list of messages as field 1; their field 1 is the resource, whose field 1 are attributes.
      const attributes = readFields(readField(readField(body))).map(readKeyAndText);
      expect(attributes).toContainEqual(['service.name', 'trestle-gateway']);
    }
  });

  it('exports by gRPC with the protocol grpc: all three signals to one endpoint, with its headers as metadata', async () => {
    const grpc = await startGrpcCollector();
    try {
      const isComplete = () => ['trace', 'metrics', 'logs'].every((signal) => grpc.calls.some((call) => call.signal === signal));
      const headers = { Authorization: '${COLLECTOR_TOKEN}' };
      const { logged } = await exportWith({ ...ALL_SIGNALS, protocol: 'grpc', otlpEndpoint: grpc.endpoint, headers }, isComplete);
      for (const { metadata, message } of grpc.calls) {
        expect(metadata.get('authorization')).toEqual([TOKEN]);
        const attributes = readFields(readField(readField(message))).map(readKeyAndText);
        expect(attributes).toContainEqual(['service.name', 'trestle-gateway']);
      }
      expect(logged).not.toContain(TOKEN.slice('Bearer '.length));
    } finally {
      grpc.stop();
    }
  });
});

/** Returns the length-delimited fields of a protobuf message that have the number 1 or 2, in order. */
function readFields(message: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  const readNumber = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = readNumber();
    if (tag !== 0x0a && tag !== 0x12) break;
    const length = readNumber();
    fields.push(message.subarray(at, at + length));
    at += length;
  }
  return fields;
}

function readField(message: Buffer): Buffer {
  return readFields(message)[0] ?? Buffer.alloc(0);
}

/** Reads a `KeyValue` whose value is a string. */
function readKeyAndText(pair: Buffer): [string, string] {
  const [key = Buffer.alloc(0), value = Buffer.alloc(0)] = readFields(pair);
  return [key.toString(), readField(value).toString()];
}
