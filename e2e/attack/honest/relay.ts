/**
 * One hop of the control (control.ts): a bare HTTP server that does a fixed piece of work, passes the request on to `argv[2]` if that is given, and
 * answers. Its port goes to the parent process.
 */
import { createHash } from 'node:crypto';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';

/** About the work of one of our processes for the requests of the honest client: 2 ms of SHA-256. */
const WORK = Buffer.alloc(1024 * 1024);
const agent = new Agent({ keepAlive: true });
const next = process.argv[2];

const server = createServer((_, response) => {
  createHash('sha256').update(WORK).digest();
  if (next === undefined) {
    response.end('{}');
    return;
  }
  get({ host: '127.0.0.1', port: Number(next), agent }, (reply) => {
    reply.pipe(response);
  }).once('error', () => response.destroy());
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
