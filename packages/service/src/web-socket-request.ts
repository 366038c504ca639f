/** Lets Node hand over only those connections whose request asks for a WebSocket: to any other `Upgrade` a server may be deaf (RFC 9110 §7.8). */
import { IncomingMessage } from 'node:http';

/**
 * Node's parser sets `upgrade` on each request and then asks it: every supported version does, and none before 24.9 has a better place
 * to decide, since one listener for `upgrade` would get them all.
 */
export class WebSocketRequest extends IncomingMessage {
  declare private asks: boolean | null | undefined;

  get upgrade(): boolean {
    return this.asks === true && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket');
  }

  set upgrade(asks: boolean | null) {
    this.asks = asks;
  }
}
