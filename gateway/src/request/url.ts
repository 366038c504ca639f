/** The longest URL of a request, for HTTP and for the request that opens a WebSocket (contract §6). */
export const MAX_URL_BYTES = 8192;
