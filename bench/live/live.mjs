/**
 * `npm run bench:live`: the cost of subscriptions. Compares the same events on many sockets with a server that only sends a serialized string,
 * and events that need one fetch from another subgraph with queries of the stock gateway.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MEASURED, ask, cpuSeconds, createProcesses, residentKilobytes } from '../processes.mjs';
import { writeSection } from '../results.mjs';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 2 : 5;
const EVENTS = 120;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const home = await mkdtemp(join(tmpdir(), 'trestle-bench-live-'));
const processes = createProcesses();
const PLAIN = 'subscription { ticked { id n at text } }';
const OWN = 'subscription ($for: ID) { ticked(for: $for) { id n at text author { id name city } } }';
const HOP = 'subscription { ticked { id n at text author { id name city } } }';

try {
  const source = await processes.fork(here('source.mjs'));
  const supergraph = join(home, 'supergraph.graphql');
  await writeFile(supergraph, source.supergraphSdl);
  const startBare = () => processes.fork(here('bare.mjs'), { env: { SOURCE: source.urls.ticks }, core: MEASURED });
  const startTrestle = () =>
    processes.spawn(here('../../gateway/bin/trestle-gateway.mjs'), { args: ['--supergraph', supergraph, '--port', '0', '--auth', 'off'] });
  const clients = await processes.fork(here('clients.mjs'));
  const emit = (ticks) => ask(source.child, { ticks });
  const listening = async (count) => {
    while ((await ask(source.child, { listeners: true })).listeners !== count) await new Promise(setImmediate);
  };
  /** Emits events to the sockets: each one after all sockets have received the previous one, or at a fixed interval. */
  const hear = async (sockets, { events, intervalMs }) => {
    const job = { job: 'hear', isTimed: intervalMs !== undefined };
    if (intervalMs !== undefined) {
      await ask(clients.child, { ...job, messages: sockets * events });
      const done = new Promise((resolve) => clients.child.once('message', resolve));
      for (let i = 0; i < events; i++) {
        await emit(1);
        await new Promise((resolve) => setTimeout(resolve, intervalMs));
      }
      return done;
    }
    for (let i = 0; i < events; i++) {
      await ask(clients.child, { ...job, messages: sockets });
      const done = new Promise((resolve) => clients.child.once('message', resolve));
      await emit(1);
      await done;
    }
  };

  const lines = [];
  for (const sockets of isQuick ? [500] : [500, 2000]) {
    const servers = { bare: await startBare(), trestle: await startTrestle() };
    const cpu = { bare: [], trestle: [] };
    const memory = { bare: [], trestle: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, { pid, port }] of Object.entries(servers)) {
        const idle = await residentKilobytes(pid);
        await ask(clients.child, { job: 'open', url: `ws://127.0.0.1:${port}/graphql`, query: PLAIN, count: sockets });
        await listening(1);
        await hear(sockets, { events: 5 });
        if (round === 0) memory[name].push(((await residentKilobytes(pid)) - idle) / sockets);
        const before = await cpuSeconds(pid);
        await hear(sockets, { events: EVENTS });
        if (round > 0) cpu[name].push((((await cpuSeconds(pid)) - before) * 1e6) / (sockets * EVENTS));
        await ask(clients.child, { job: 'close' });
        await listening(0);
      }
    }
    const [bare, trestle] = [median(cpu.bare), median(cpu.trestle)];
    lines.push(
      `| ${sockets} sockets | ${bare.toFixed(1)} µs | ${trestle.toFixed(1)} µs | **${(trestle / bare).toFixed(2)}** | ${memory.bare[0].toFixed(1)} KB | ${memory.trestle[0].toFixed(1)} KB |`,
    );
    console.log(lines.at(-1), cpu);
    if (sockets === 500) {
      const delays = {};
      for (const [name, { port }] of Object.entries(servers)) {
        await ask(clients.child, { job: 'open', url: `ws://127.0.0.1:${port}/graphql`, query: PLAIN, count: 200 });
        await listening(1);
        await hear(200, { events: 20 });
        delays[name] = await hear(200, { events: isQuick ? 60 : 300, intervalMs: 50 });
        await ask(clients.child, { job: 'close' });
        await listening(0);
      }
      console.log(delays);
      lines.push(
        `| 200 sockets × 20 events/s, p99 (p50) | ${delays.bare.p99.toFixed(1)} (${delays.bare.p50.toFixed(1)}) ms | ${delays.trestle.p99.toFixed(1)} (${delays.trestle.p50.toFixed(1)}) ms | **${(delays.trestle.p99 / delays.bare.p99).toFixed(2)}** | | |`,
      );
    }
    for (const { child } of Object.values(servers)) {
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
    }
  }

  for (const sockets of isQuick ? [500] : [500, 2000]) {
    const { pid, port, child } = await startTrestle();
    const measure = async (isOwn) => {
      await ask(clients.child, { job: 'open', url: `ws://127.0.0.1:${port}/graphql`, query: OWN, count: sockets, isOwn });
      await listening(isOwn ? sockets : 1);
      await hear(sockets, { events: 3 });
      const events = isOwn ? 10 : EVENTS;
      const before = await cpuSeconds(pid);
      await hear(sockets, { events });
      const spent = (((await cpuSeconds(pid)) - before) * 1e6) / (sockets * events);
      await ask(clients.child, { job: 'close' });
      await listening(0);
      return spent;
    };
    await measure(false);
    const [shared, own] = [await measure(false), await measure(true)];
    lines.push(
      `| ${sockets} sockets, events with one hop: each its own subscription, or all the same | | ${own.toFixed(1)} µs, ${shared.toFixed(1)} µs | **1/${(own / shared).toFixed(1)}** | | |`,
    );
    console.log(lines.at(-1));
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  }

  const hop = await measureHop();
  lines.push(
    `| one hop, CPU an event | | ${hop.trestle.toFixed(0)} µs; as queries of the stock gateway ${hop.apollo.toFixed(0)} µs | **1/${(hop.apollo / hop.trestle).toFixed(1)}** | | |`,
    `| one hop, events/s | | ${hop.perSecond.trestle.toFixed(0)}; as queries of the stock gateway ${hop.perSecond.apollo.toFixed(0)} | **${(hop.perSecond.trestle / hop.perSecond.apollo).toFixed(1)}×** | | |`,
  );
  const table = ['| | bare | trestle | ratio | memory a socket: bare | trestle |', '| --- | --- | --- | --- | --- | --- |', ...lines];
  console.log(table.join('\n'));
  if (!isQuick) await writeSection('What subscriptions cost', { command: 'npm run bench:live', lines: table });

  /** Measures one subscription with 32 events in flight, and 32 queries in flight. */
  async function measureHop() {
    const count = isQuick ? 2000 : 10_000;
    const trestle = await startTrestle();
    const apollo = await processes.fork(here('../gateway/apollo.mjs'), { env: { SUPERGRAPH_PATH: supergraph }, core: MEASURED });
    await ask(clients.child, { job: 'open', url: `ws://127.0.0.1:${trestle.port}/graphql`, query: HOP, count: 1 });
    await listening(1);
    const stream = async (events) => {
      const started = performance.now();
      for (let sent = 0; sent < events; sent += 32) {
        await ask(clients.child, { job: 'hear', messages: 32 });
        const done = new Promise((resolve) => clients.child.once('message', resolve));
        await emit(32);
        await done;
      }
      return performance.now() - started;
    };
    await stream(count / 4);
    const before = await cpuSeconds(trestle.pid);
    const streamed = await stream(count);
    const trestleCpu = (((await cpuSeconds(trestle.pid)) - before) * 1e6) / count;
    const url = `http://127.0.0.1:${apollo.port}${apollo.path}`;
    const query = (n) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'query ($n: Int!) { tick(n: $n) { id n at text author { id name city } } }', variables: { n } }),
      }).then((response) => response.text());
    const askAll = async (queries) => {
      let n = 0;
      const started = performance.now();
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          while (n < queries) await query(n++);
        }),
      );
      return performance.now() - started;
    };
    await askAll(count / 4);
    const apolloBefore = await cpuSeconds(apollo.pid);
    const asked = await askAll(count / 2);
    const apolloCpu = (((await cpuSeconds(apollo.pid)) - apolloBefore) * 1e6) / (count / 2);
    return {
      trestle: trestleCpu,
      apollo: apolloCpu,
      perSecond: { trestle: (count / streamed) * 1000, apollo: (count / 2 / asked) * 1000 },
    };
  }
} finally {
  processes.endAll();
  await rm(home, { recursive: true, force: true });
}
