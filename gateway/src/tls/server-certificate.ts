/** The certificate of the server and the authorities of its clients' certificates; both are read again when their files change. */
import { readFileSync } from 'node:fs';
import { SettingsError, readTls } from '@trestle/env';
import type { Log } from '@trestle/log';
import type { TlsCredentials } from '@trestle/service/server/tls';
import type { FileWatch } from '../configuration/file/watch-file.ts';
import { type CLIENT_CERTIFICATES, readCertificates } from '../configuration/settings/pem.ts';
import { watchFiles } from './watch-files.ts';

/** The settings, with the content of the files. */
export interface ServerTlsSettings {
  readonly TLS_CERT_FILE?: string | undefined;
  readonly TLS_KEY_FILE?: string | undefined;
  readonly TLS_CLIENT_CA_FILE?: string | undefined;
  /** Default: `require` where TLS_CLIENT_CA_FILE is set. */
  readonly TLS_CLIENT_CERTIFICATE?: (typeof CLIENT_CERTIFICATES)[number] | undefined;
  readonly TLS_CLIENT_SUBJECT_HEADER?: string | undefined;
}

type AddFault = (name: string, message: string) => void;

/** Returns the credentials of the server; undefined without a certificate, and after a fault. Throws SettingsError for a certificate and key that are not valid. */
export function readServerTls(values: ServerTlsSettings, addFault: AddFault): TlsCredentials | undefined {
  const { TLS_CLIENT_CA_FILE: ca } = values;
  const pair = readTls(values);
  const mode = values.TLS_CLIENT_CERTIFICATE ?? (ca === undefined ? 'none' : 'require');
  const fault = findClientFault({ ...values, mode, hasCertificate: pair !== undefined });
  if (fault) {
    addFault(...fault);
    return undefined;
  }
  return pair && ca !== undefined && mode !== 'none' ? { ...pair, clients: { ca, isRequired: mode === 'require' } } : pair;
}

interface ClientSettings extends ServerTlsSettings {
  readonly mode: (typeof CLIENT_CERTIFICATES)[number];
  readonly hasCertificate: boolean;
}

function findClientFault({
  mode,
  hasCertificate,
  TLS_CLIENT_CA_FILE: ca,
  TLS_CLIENT_SUBJECT_HEADER: header,
}: ClientSettings): [keyof ServerTlsSettings, string] | undefined {
  if (ca !== undefined && !hasCertificate)
    return ['TLS_CLIENT_CA_FILE', 'needs server.tls.certificateFile: only TLS has client certificates'];
  if (mode !== 'none' && ca === undefined)
    return ['TLS_CLIENT_CERTIFICATE', 'needs server.tls.clientCaFile, whose authorities sign the certificates'];
  if (mode === 'none' && header !== undefined)
    return ['TLS_CLIENT_SUBJECT_HEADER', 'needs server.tls.clientCaFile: no client presents a certificate'];
  return undefined;
}

/** What a running server is given. */
export interface ServerTlsWatch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly current: TlsCredentials | undefined;
  readonly replace: (next: TlsCredentials) => void;
  readonly log: Log;
}

/** Watches the files, and gives changed credentials to the server. Files that are not valid are refused and logged. */
export function watchServerTls({ env, current, replace, log }: ServerTlsWatch): FileWatch {
  const { TLS_CERT_FILE: certificate, TLS_KEY_FILE: key, TLS_CLIENT_CA_FILE: ca } = env;
  if (!current || certificate === undefined || key === undefined) return { stop: () => undefined };
  let used = current;
  const reload = () => {
    const pair = readTls({ TLS_CERT_FILE: readFileSync(certificate, 'utf8'), TLS_KEY_FILE: readFileSync(key, 'utf8') });
    if (!pair) throw new SettingsError('TLS_CERT_FILE, TLS_KEY_FILE: are empty');
    const clients = used.clients && ca !== undefined ? { ...used.clients, ca: readAuthorities(ca) } : used.clients;
    const next: TlsCredentials = clients ? { ...pair, clients } : pair;
    if (next.cert === used.cert && next.key === used.key && next.clients?.ca === used.clients?.ca) return;
    replace(next);
    used = next;
    log.info('new connections use a changed certificate');
  };
  return watchFiles({ files: [certificate, key, ...(ca === undefined ? [] : [ca])], subject: 'the server certificate', reload, log });
}

function readAuthorities(file: string): string {
  try {
    return readCertificates(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SettingsError(`TLS_CLIENT_CA_FILE: ${(error as Error).message}`);
  }
}
