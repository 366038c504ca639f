/** A reverse proxy before two servers, with kept-alive connections: nginx where it is installed, else a small one on node:http. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './client.ts';

const NGINX = '/usr/sbin/nginx';
export const hasNginx = existsSync(NGINX);

export interface Front {
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes requests to the servers in turn. A server that refuses the connection is left out; nothing that may have been sent is sent again. */
export function startFront(ports: readonly number[], { isNginx = hasNginx } = {}): Promise<Front> {
  return isNginx ? startNginx(ports) : startProxy(ports);
}

async function startProxy(ports: readonly number[]): Promise<Front> {
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const pass = (from: IncomingMessage, to: ServerResponse, { body, attempts }: { body: Buffer; attempts: number }) => {
    const port = ports[turn++ % ports.length] ?? 0;
    const { method, url: path, headers } = from;
    const outgoing = request({ host: '127.0.0.1', port, method, path, agent, headers: { ...headers, connection: 'keep-alive' } });
    outgoing.on('response', (answer) => {
      to.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'keep-alive' });
      answer.pipe(to);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && attempts > 1) pass(from, to, { body, attempts: attempts - 1 });
      else if (to.headersSent) to.destroy();
      else to.writeHead(502).end(`${String(error.code)}: ${error.message}`);
    });
    outgoing.end(body);
  };
  const server = createServer((from, to) => {
    const chunks: Buffer[] = [];
    from.on('data', (chunk: Buffer) => chunks.push(chunk));
    from.on('end', () => {
      pass(from, to, { body: Buffer.concat(chunks), attempts: ports.length });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

async function startNginx(ports: readonly number[]): Promise<Front> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-nginx-'));
  const port = await freePort();
  await writeFile(join(home, 'nginx.conf'), toConfiguration({ home, port, ports }));
  const child = spawn(NGINX, ['-p', home, '-c', join(home, 'nginx.conf'), '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'ignore'] });
  await until(() => isListening(port));
  return {
    url: `http://127.0.0.1:${String(port)}`,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** As most deployments have it; a server that was just restarted is tried at once. */
function toConfiguration({ home, port, ports }: { home: string; port: number; ports: readonly number[] }): string {
  const servers = ports.map((each) => `server 127.0.0.1:${String(each)} max_fails=0;`).join(' ');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`).join(' ');
  return `daemon off; worker_processes 2; pid ${home}/nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
  access_log off; ${temporary}
  upstream servers { ${servers} keepalive 32; }
  server {
    listen 127.0.0.1:${String(port)};
    location / { proxy_pass http://servers; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
