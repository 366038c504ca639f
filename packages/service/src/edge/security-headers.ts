/** The headers by which browsers restrict what a response may do: those of the package `helmet`, for responses that are data (spec §5.9). */
import type { HeaderList } from '../messages/response-headers.ts';

/** A response that is no page loads nothing, and is not shown in another page. Pages replace this policy by their own. */
const DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The headers of every response of a process that browsers reach. */
export const SECURITY_HEADERS: HeaderList = [
  'content-security-policy',
  DATA_POLICY,
  'cross-origin-opener-policy',
  'same-origin',
  // Another origin reads a response by CORS only.
  'cross-origin-resource-policy',
  'same-origin',
  'origin-agent-cluster',
  '?1',
  'referrer-policy',
  'no-referrer',
  'x-content-type-options',
  'nosniff',
  'x-dns-prefetch-control',
  'off',
  'x-frame-options',
  'DENY',
  'x-permitted-cross-domain-policies',
  'none',
];
