/** Ends HTTP/2 connections that send many frames without a request (CVE-2019-9512, CVE-2019-9513, CVE-2019-9515, CVE-2023-44487). */
import { type ServerHttp2Session, constants } from 'node:http2';
import type { Duplex } from 'node:stream';

/** How many frames of each type a client may send in a window of time. Browsers and gRPC stay far below. */
const WINDOW_MS = 10_000;
const MAX_PINGS = 100;
const MAX_SETTINGS = 50;
/** One announces the end of the connection, and a second one ends it (RFC 9113 §6.8). */
const MAX_GOAWAY = 10;
/** Of streams that are not open (RFC 9113 §5.3.2: the frame is deprecated). */
const MAX_PRIORITIES = 1000;
/** In addition to one for each stream that ends in order. More than the streams that can be open, since a client may cancel all of them at once. */
const MAX_RESETS = 200;

/** Closes the session with ENHANCE_YOUR_CALM when its client sends too many of PING, SETTINGS, GOAWAY, PRIORITY or RST_STREAM (RFC 9113 §10.5); then `onFlood` is called. */
export function limitFrames(session: ServerHttp2Session, { socket, onFlood }: { socket: Duplex; onFlood: () => void }): void {
  let isEnded = false;
  const end = () => {
    isEnded = true;
    onFlood();
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // Later, because Node.js 22 ends the process when a session is destroyed while it reads a frame. The socket too, because destroying a session can
    // leave it open.
    setImmediate(() => {
      session.destroy();
      socket.destroy();
    });
  };
  const count = (max: number) => {
    let frames = 0;
    let since = performance.now();
    return (change = 1) => {
      const now = performance.now();
      if (now - since > WINDOW_MS) {
        since = now;
        frames = 0;
      }
      frames += change;
      // When a connection is lost its streams close too: that is no flood, and nothing can be sent.
      if (frames > max && !isEnded && !session.destroyed) end();
    };
  };
  const onReset = count(MAX_RESETS);
  const [onPing, onSettings, onPriority] = [count(MAX_PINGS), count(MAX_SETTINGS), count(MAX_PRIORITIES)];
  const onGoaway = count(MAX_GOAWAY);
  session.on('ping', () => {
    onPing();
  });
  session.on('remoteSettings', () => {
    onSettings();
  });
  session.on('goaway', () => {
    onGoaway();
  });
  session.on('priority', () => {
    onPriority();
  });
  session.on('stream', (stream) => {
    stream.once('close', () => {
      onReset(stream.rstCode === constants.NGHTTP2_NO_ERROR ? -1 : 1);
    });
  });
}
