/** Hive Gateway's deduplication of requests in flight, which the public federation benchmark switches on. */
export const gatewayConfig = { inboundInflightRequestDeduplication: true };
