/** Mercurius gateway set up as its documentation shows, with the just-in-time compiler. It supports Federation 1 only, so the schemas are converted. */
import mercuriusGateway from '@mercuriusjs/gateway';
import fastify from 'fastify';

const { SUBGRAPHS } = await import(process.env.SUBGRAPHS_MODULE ?? '../gateway/supergraph.mjs');
const urls = JSON.parse(process.env.URLS);
/** Subgraphs get the client's Authorization, if it has sent one. */
const rewriteHeaders = ({ authorization } = {}) => (authorization === undefined ? {} : { authorization });
const services = Object.entries(urls).map(([name, url]) => ({
  name,
  url,
  rewriteHeaders,
  schema: SUBGRAPHS[name].firstSdl ?? toFirstVersion(SUBGRAPHS[name].sdl, name),
}));
const app = fastify();
await app.register(mercuriusGateway, { jit: 1, gateway: { services } });
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });

function toFirstVersion(sdl, name) {
  const own = sdl
    .replace(/extend schema .*/, '')
    .replace(/type (Query|Mutation)/g, 'extend type $1')
    .replace(', resolvable: false', '');
  if (name !== 'orders') return own;
  return own.replace(/type (User|Product) (@key\(fields: "id"\)) \{ id: ID!/g, 'extend type $1 $2 { id: ID! @external');
}
