// @ts-check
/** Sends subgraphs the features that are on for a caller, and reports them to the client. */
import { createHash } from 'node:crypto';

const HEADER = 'x-features';

/**
 * A feature is on for a share of callers. The same caller always has the same features; anonymous callers have those with a share of 100.
 *
 * @param {Readonly<Record<string, number>>} features The share in percent of each feature, by its name.
 * @returns {import('@trestle/gateway/extension').Extension}
 */
export function featureFlags(features) {
  return {
    name: 'feature-flags',
    onContext: ({ request, setSubgraphHeader, setResponseHeader }) => {
      const userId = request.caller?.userId;
      const names = Object.keys(features).filter((name) => isOn(name, features[name] ?? 0, userId));
      if (names.length === 0) return;
      setSubgraphHeader(HEADER, names.join(', '));
      setResponseHeader(HEADER, names.join(', '));
    },
  };
}

/** @param {string} name @param {number} percent @param {string | undefined} userId */
function isOn(name, percent, userId) {
  if (percent >= 100) return true;
  if (userId === undefined) return false;
  return createHash('sha256').update(`${name}:${userId}`).digest().readUInt32BE(0) / 2 ** 32 < percent / 100;
}
