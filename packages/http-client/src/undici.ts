/**
 * The classes of undici that this repository uses. The index of undici loads its fetch, WebSocket, caches, proxies and mocks too: twice the code, at
 * each start of a process. Types are imported from `undici` itself.
 */
import type undici from 'undici';
import api from 'undici/lib/api/index.js';
import connector from 'undici/lib/core/connect.js';
import coreErrors from 'undici/lib/core/errors.js';
import agent from 'undici/lib/dispatcher/agent.js';
import dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import pool from 'undici/lib/dispatcher/pool.js';

// As the index does: it gives dispatchers the methods `request` and `stream`.
Object.assign(dispatcher.prototype, api);

/** Sends requests to any origin, by a pool of connections for each. */
export const Agent: typeof undici.Agent = agent;
/** Sends requests to one origin, by several connections. */
export const Pool: typeof undici.Pool = pool;
/** Creates the function that opens a connection. */
export const buildConnector: typeof undici.buildConnector = connector;
/** The errors that requests fail with. */
export const errors: typeof undici.errors = coreErrors;
