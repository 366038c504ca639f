/** The longest URL of a request in bytes, also of the request that opens a WebSocket (contract §6). */
export const MAX_URL_BYTES = 8192;
