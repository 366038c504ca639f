/** Hive Gateway passes the client's Authorization on. DEDUPLICATION switches on what the public federation benchmark switches on. */
export const gatewayConfig = {
  propagateHeaders: {
    fromClientToSubgraphs({ request }) {
      const authorization = request.headers.get('authorization');
      return authorization ? { authorization } : {};
    },
  },
  ...(process.env.DEDUPLICATION && { inboundInflightRequestDeduplication: true }),
};
