/** Opens many sockets with one subscription each, counts the events, and measures the delay since the source has emitted them. */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';

let sockets = [];
let heard = 0;
let wanted = Infinity;
let tellWhenHeard = () => undefined;
let delays;

const open = ({ url, query, variables }) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, 'graphql-transport-ws');
    socket.on('error', reject);
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data) => {
      const text = data.toString();
      if (text === '{"type":"connection_ack"}') {
        socket.send(JSON.stringify({ id: randomUUID(), type: 'subscribe', payload: { query, variables } }));
        resolve(socket);
        return;
      }
      if (delays) {
        const at = /"at":"(\d+)"/.exec(text)[1];
        delays.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
      }
      if (++heard === wanted) tellWhenHeard();
    });
  });

const jobs = {
  /** Opens the sockets, with the same subscription on all or a different one on each. */
  async open({ url, query, count, isOwn }) {
    sockets = [];
    for (let i = 0; i < count; i++) sockets.push(await open({ url, query, variables: isOwn ? { for: String(i) } : undefined }));
    return {};
  },
  /** Resolves when this number of messages has arrived. */
  async hear({ messages, isTimed }) {
    delays = isTimed ? [] : undefined;
    heard = 0;
    wanted = messages;
    const done = new Promise((resolve) => (tellWhenHeard = resolve));
    process.send({ isReady: true });
    await done;
    const sorted = delays?.toSorted((a, b) => a - b);
    return { p50: sorted?.[Math.floor(sorted.length * 0.5)], p99: sorted?.[Math.floor(sorted.length * 0.99)] };
  },
  async close() {
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve) && socket.close())));
    return {};
  },
};
process.on('message', async ({ job, ...rest }) => process.send(await jobs[job](rest)));
process.send({});
