/** Ends connections of HTTP/2 that send many frames which cost work and carry no request (CVE-2019-9512, CVE-2019-9513, CVE-2019-9515, CVE-2023-44487). */
import { type ServerHttp2Session, constants } from 'node:http2';
import type { Duplex } from 'node:stream';

/** How many of each a client may send in a window of time; browsers and gRPC stay far below. */
const WINDOW_MS = 10_000;
const MAX_PINGS = 100;
const MAX_SETTINGS = 50;
/** Of streams that are not open (RFC 9113 §5.3.2: the frame is deprecated). */
const MAX_PRIORITIES = 1000;
/** Besides as many as it has streams that end in order: more than it has open at a time, all of which a client may cancel at once. */
const MAX_RESETS = 200;

/** Closes the session with ENHANCE_YOUR_CALM when its client sends too many of PING, SETTINGS, PRIORITY or RST_STREAM (RFC 9113 §10.5); then `onFlood` is called. */
export function limitFrames(session: ServerHttp2Session, { socket, onFlood }: { socket: Duplex; onFlood: () => void }): void {
  let isEnded = false;
  const end = () => {
    isEnded = true;
    onFlood();
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // Not within the callback of a frame, which Node is still reading; and a session that is destroyed may leave its socket open.
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
      // Streams also close with a connection that is lost, and nothing can be sent there any more.
      if (frames > max && !isEnded && !session.destroyed) end();
    };
  };
  const onReset = count(MAX_RESETS);
  const [onPing, onSettings, onPriority] = [count(MAX_PINGS), count(MAX_SETTINGS), count(MAX_PRIORITIES)];
  session.on('ping', () => {
    onPing();
  });
  session.on('remoteSettings', () => {
    onSettings();
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
