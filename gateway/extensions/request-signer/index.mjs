// @ts-check
/** Signs requests to subgraphs, so that a subgraph can refuse what does not come from the gateway. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const HEADER = 'x-gateway-signature';
const MAX_AGE_SECONDS = 60;
const MIN_KEY_CHARACTERS = 32;

/**
 * Sets `x-gateway-signature: t=SECONDS,v1=HEX`: the HMAC-SHA256 of the time, a dot and the body. It is no part of fetches with files, whose body is
 * multipart, nor of WebSockets.
 *
 * @param {{ readonly key: string, readonly subgraphs?: readonly string[] }} options `key` has 32 characters or more; `subgraphs` are those that get
 *   signatures, by default all.
 * @returns {import('@trestle/gateway/extension').Extension}
 */
export function requestSigner({ key, subgraphs }) {
  // It often comes from an environment variable, which may be unset.
  if (typeof key !== 'string' || key.length < MIN_KEY_CHARACTERS)
    throw new Error(`the key of the request signer must have ${String(MIN_KEY_CHARACTERS)} characters or more`);
  return {
    name: 'request-signer',
    onSubgraphRequest: ({ subgraph, body, setHeader }) => {
      if (subgraphs && !subgraphs.includes(subgraph)) return;
      const seconds = Math.floor(Date.now() / 1000);
      setHeader(HEADER, `t=${String(seconds)},v1=${sign(key, seconds, body).toString('hex')}`);
    },
  };
}

/**
 * Returns whether the gateway signed a request with this key within the last minute. For subgraphs.
 *
 * @param {{ readonly key: string, readonly body: string, readonly signature: string | undefined }} request `body` is the body as it was received,
 *   `signature` the header `x-gateway-signature`.
 * @returns {boolean}
 */
export function isSigned({ key, body, signature }) {
  const [, time, hex] = /^t=(\d{1,12}),v1=([\da-f]{64})$/.exec(signature ?? '') ?? [];
  if (time === undefined || hex === undefined) return false;
  const age = Math.abs(Date.now() / 1000 - Number(time));
  return age <= MAX_AGE_SECONDS && timingSafeEqual(sign(key, Number(time), body), Buffer.from(hex, 'hex'));
}

/** @param {string} key @param {number} seconds @param {string} body */
function sign(key, seconds, body) {
  return createHmac('sha256', key)
    .update(`${String(seconds)}.${body}`)
    .digest();
}
