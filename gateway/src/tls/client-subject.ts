/** Puts the subject of a verified client certificate into a request header, which rules and extensions can use like any other. */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What TLS adds to a socket. */
interface TlsPeer {
  readonly authorized?: boolean;
  readonly getPeerX509Certificate?: () => X509Certificate | undefined;
}

/**
 * Returns a function that sets the header of a request to the subject of its client's certificate (RFC 4514), and removes the header from requests without
 * one: what a client sends under this name is never used.
 */
export function createSubjectWriter(header: string): (request: IncomingMessage) => void {
  const subjects = new WeakMap<object, string>();
  return ({ headers, socket }) => {
    const known = subjects.get(socket);
    const subject = known ?? readSubject(socket as unknown as TlsPeer);
    if (known === undefined) subjects.set(socket, subject);
    if (subject === '') Reflect.deleteProperty(headers, header);
    else headers[header] = subject;
  };
}

function readSubject(peer: TlsPeer): string {
  return peer.authorized === true ? toDistinguishedName(peer.getPeerX509Certificate?.()?.subject ?? '') : '';
}

/**
 * Returns a subject as RFC 4514 writes it, the most specific part first: `CN=orders,O=Example`. `lines` has one part per line, escaped by RFC 2253, as
 * `X509Certificate.subject`. Characters beyond ASCII become pairs of hexadecimal digits, because headers cannot hold them.
 */
export function toDistinguishedName(lines: string): string {
  const parts = lines.split('\n').filter((line) => line !== '');
  return parts
    .reverse()
    .join(',')
    .replace(/[^\x20-\x7e]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
