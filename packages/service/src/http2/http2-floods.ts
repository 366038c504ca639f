/** Ends HTTP/2 connections that send many frames without a request (CVE-2019-9512, CVE-2019-9513, CVE-2019-9515, CVE-2023-44487), or small ones. */
import { type ServerHttp2Session, type ServerHttp2Stream, constants } from 'node:http2';
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
/**
 * DATA with fewer bytes than {@link SMALL_DATA_BYTES}, in addition to two for each stream. A frame costs what it costs whatever its size: larger ones
 * make up for smaller ones.
 */
const MAX_SMALL_DATA = 10_000;
const SMALL_DATA_BYTES = 256;

/**
 * Closes the session with ENHANCE_YOUR_CALM when its client sends too many of PING, SETTINGS, GOAWAY, PRIORITY, RST_STREAM or small DATA (RFC 9113
 * §10.5); then `onFlood` is called. What Node.js reads without an event, such as WINDOW_UPDATE, costs hardly more than its bytes.
 */
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
  const [onGoaway, onData] = [count(MAX_GOAWAY), count(MAX_SMALL_DATA)];
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
    onData(-2);
    watchData(stream, (bytes) => {
      onData(1 - bytes / SMALL_DATA_BYTES);
    });
    stream.once('close', () => {
      onReset(stream.rstCode === constants.NGHTTP2_NO_ERROR ? -1 : 1);
    });
  });
}

/**
 * Calls back with the size of each DATA frame that has content. Node pushes each of them by itself, and emits no event for one that waits to be read.
 */
function watchData(stream: ServerHttp2Stream, onFrame: (bytes: number) => void): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk: Buffer | null, ...rest) => {
    if (chunk !== null) onFrame(chunk.length);
    return push(chunk, ...rest);
  };
}
