/**
 * Results of queries that the gateway keeps: which, for whom, for how long, and what ends that. The tests are in the modules that are imported for
 * them; they use the same processes.
 */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import './kept-results.ts';
import './changed-results.ts';
import './endpoint.ts';
import './events.ts';
import './kept-fetches.ts';
import './redis-results.ts';
import { resetLamps, startLamps, stopLamps } from './lamp-system.ts';

beforeAll(startLamps);
beforeEach(resetLamps);
afterAll(stopLamps);
