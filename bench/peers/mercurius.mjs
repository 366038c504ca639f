/** Mercurius as its documentation sets a gateway up, with its just-in-time compiler on. */
import mercuriusGateway from '@mercuriusjs/gateway';
import fastify from 'fastify';

const urls = JSON.parse(process.env.URLS);
const app = fastify();
await app.register(mercuriusGateway, { jit: 1, gateway: { services: Object.entries(urls).map(([name, url]) => ({ name, url })) } });
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
