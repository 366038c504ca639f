/** Makes Node emit `upgrade` for WebSockets only: a server may ignore any other `Upgrade` (RFC 9110 §7.8). */
import { IncomingMessage } from 'node:http';

/**
 * A request that hides `Upgrade` headers other than `websocket` from Node. In every supported version, Node's parser sets `upgrade` on a
 * request and then reads it. Before 24.9 there is no better place: a listener for `upgrade` gets all of them.
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
