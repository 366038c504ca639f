/** A load balancer before several servers, with kept-alive connections: nginx where it is installed, else the proxy of proxy.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { until } from '../clients/client.ts';
import { startProxy } from './proxy.ts';

const NGINX = findProgram('nginx');
export const hasNginx = NGINX !== undefined;

export interface Front {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Passes requests to the servers in turn: bodies as streams in both directions, `Host` unchanged, WebSockets and event streams for as long
 * as they are open. It listens on a free port by default. A server that refuses the connection is left out. A write that may have been sent is not sent again.
 */
export async function startFront(ports: readonly number[], { isNginx = hasNginx, port = 0 } = {}): Promise<Front> {
  if (isNginx && NGINX) return startNginx(NGINX, { ports, port: port === 0 ? await reserveTestPort() : port, isCache: false });
  if (!NGINX) process.stderr.write('\n*** NO NGINX: it is not installed. A proxy of the tests takes its place. ***\n\n');
  return startProxy(ports, port);
}

/**
 * A cache of nginx before one server, which keeps what `Cache-Control` allows. `X-Cache` of a response says whether it came from the cache: `HIT`,
 * `MISS`, `EXPIRED`. Throws where nginx is not installed.
 */
export async function startNginxCache(port: number): Promise<Front> {
  if (!NGINX) throw new Error('nginx is not installed');
  return startNginx(NGINX, { ports: [port], port: await reserveTestPort(), isCache: true });
}

/** Returns the path of an installed program. Packages install servers in a folder that is not in the PATH of every user. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

interface NginxOptions {
  readonly ports: readonly number[];
  readonly port: number;
  readonly isCache: boolean;
}

async function startNginx(path: string, { ports, port, isCache }: NginxOptions): Promise<Front> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-nginx-'));
  // Workers of a server that root starts are another user, and must reach the files of the cache.
  await chmod(home, 0o755);
  await writeFile(join(home, 'nginx.conf'), toConfiguration({ home, port, ports, isCache }));
  const child = spawn(path, ['-p', home, '-c', join(home, 'nginx.conf'), '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'ignore'] });
  return toFront(child, { home, port });
}

/** Returns a server of this machine when it accepts connections. Its folder is removed when it has stopped. */
export async function toFront(child: ChildProcess, { home, port }: { readonly home: string; readonly port: number }): Promise<Front> {
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

/** As docs/operations.md recommends it; a server that was just restarted is tried at once. */
function toConfiguration({ home, port, ports, isCache }: NginxOptions & { readonly home: string }): string {
  const servers = ports.map((each) => `server 127.0.0.1:${String(each)} max_fails=0;`).join(' ');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`).join(' ');
  const zone = isCache ? `proxy_cache_path ${home}/cache keys_zone=cache:1m;` : '';
  const caching = isCache ? 'proxy_cache cache; add_header X-Cache $upstream_cache_status always;' : 'proxy_buffering off;';
  return `daemon off; worker_processes 2; pid ${home}/nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
  access_log off; ${temporary} ${zone}
  map $http_upgrade $connection_of_upgrade { default upgrade; '' ''; }
  upstream servers { ${servers} keepalive 32; }
  server {
    listen 127.0.0.1:${String(port)};
    client_max_body_size 0; merge_slashes off; ignore_invalid_headers off;
    location / {
      proxy_pass http://servers; proxy_http_version 1.1;
      proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_of_upgrade;
      proxy_request_buffering off; ${caching} proxy_read_timeout 1h; proxy_send_timeout 1h;
    }
  }
}
`;
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
