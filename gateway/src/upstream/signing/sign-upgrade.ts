/** Signs the handshake of a WebSocket. */
import type { ClientRequest } from 'node:http';
import type { RequestSigner } from './request-signer.ts';

/** Returns the option `finishRequest` of `ws`, which sends the request of the handshake. Without a signature the connection is lost. */
export function signUpgrade({ sign }: Pick<RequestSigner, 'sign'>): (request: ClientRequest) => void {
  return (request) => {
    const host = String(request.getHeader('host'));
    sign({ method: 'GET', host, path: request.path, headers: [], body: '' }).then(
      (headers) => {
        if (request.destroyed) return;
        for (let i = 0; i < headers.length; i += 2) request.setHeader(headers[i] as string, headers[i + 1] as string);
        request.end();
      },
      (error: unknown) => {
        request.destroy(error as Error);
      },
    );
  };
}
