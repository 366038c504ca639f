/** The table of all attacks, in the order in which they run. */
import type { Attack } from './attack.ts';
import { CRASH_ATTACKS } from './families/crashes.ts';
import { DOCUMENT_ATTACKS } from './families/documents.ts';
import { HTTP_ATTACKS } from './families/http-fuzz.ts';
import { HTTP2_ATTACKS } from './families/http2-fuzz.ts';
import { MESSAGE_ATTACKS } from './families/messages.ts';
import { REST_ATTACKS } from './families/rest.ts';
import { REST_FLOODS } from './families/rest-floods.ts';
import { SLOW_CLIENT_ATTACKS } from './families/slow-clients.ts';
import { SOCKET_ATTACKS } from './families/socket-fuzz.ts';
import { TOKEN_ATTACKS } from './families/tokens.ts';
import { VALUE_ATTACKS } from './families/values.ts';

export const ATTACKS: readonly Attack[] = [
  ...TOKEN_ATTACKS,
  ...HTTP_ATTACKS,
  ...SOCKET_ATTACKS,
  ...MESSAGE_ATTACKS,
  ...DOCUMENT_ATTACKS,
  ...VALUE_ATTACKS,
  ...REST_ATTACKS,
  ...REST_FLOODS,
  ...SLOW_CLIENT_ATTACKS,
  ...HTTP2_ATTACKS,
  ...CRASH_ATTACKS,
];
