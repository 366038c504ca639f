/** The probes of the bridge. They are no part of the API, but every response of the bridge names an API version (contract §4). */
import type { Probes } from '@trestle/service/probes/probes';
import { addHeaders } from '@trestle/service/messages/response-headers';
import { DEFAULT_VERSION } from '../versions/versions.ts';

const HEADERS = ['api-version', String(DEFAULT_VERSION)];

/** Returns probes whose responses have `API-Version`. */
export function withApiVersion(probes: Probes): Probes {
  return {
    ...probes,
    answer(request, response) {
      const isAnswered = probes.answer(request, response);
      // Probes write their responses after this turn of the event loop.
      if (isAnswered) addHeaders(response, HEADERS);
      return isAnswered;
    },
  };
}
