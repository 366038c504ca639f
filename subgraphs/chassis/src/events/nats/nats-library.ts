/** What is used of the libraries of NATS: a module of its own, because a bundle keeps no names of CommonJS packages that are loaded on demand. */
export { jetstream, jetstreamManager } from '@nats-io/jetstream';
export { connect } from '@nats-io/transport-node';
