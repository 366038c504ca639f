/** Reads the query plans of statements from the server's log (auto_explain). */
import { setTimeout as pause } from 'node:timers/promises';
import { BIG } from './rows.mjs';

/** Loads auto_explain without a threshold, because a value on the command line would override the one that `turnOn` sets. */
export const EXPLAIN_FLAGS = ['session_preload_libraries=auto_explain', 'auto_explain.log_format=json'].flatMap((setting) => [
  '-c',
  setting,
]);

const LOG_TIMEOUT_MS = 20_000;

/** Collects the log. `explain` resolves with the faults of the plans that the server used during `work`. */
export function createPlans() {
  let log = '';
  return {
    onLog: (text) => {
      log += text;
    },

    /** Enables the logging of plans in every session of the server. */
    async turnOn(stack) {
      await stack.sql('users', 'ALTER SYSTEM SET auto_explain.log_min_duration = 0');
      await stack.sql('users', 'SELECT pg_reload_conf()');
    },

    async explain(stack, { showsTotal }, work) {
      log = '';
      await work();
      // When this statement is in the log, all earlier ones are in it.
      await stack.sql('users', "SELECT 'the end of the plans'");
      const deadline = Date.now() + LOG_TIMEOUT_MS;
      while (!log.includes('the end of the plans')) {
        if (Date.now() > deadline) throw new Error(`The server logged no plans within ${LOG_TIMEOUT_MS / 1000} s`);
        await pause(5);
      }
      const plans = Array.from(log.matchAll(/plan:\n(\s*\{[\s\S]*?\n[ \t]*\})\n(?=\S|$)/g), ([, json]) => JSON.parse(json));
      if (plans.length < 2) throw new Error(`The server logged ${plans.length} plans, at least 2 were expected`);
      return plans.flatMap((plan) => faultsOf(plan, showsTotal));
    },
  };
}

function faultsOf({ 'Query Text': query, Plan: plan }, showsTotal) {
  const scans = flatten(plan).filter((node) => node['Node Type'] === 'Seq Scan' && BIG.includes(node['Relation Name']));
  const text = query.replace(/\s+/g, ' ');
  // A search may count the ids that it has read already, at most 1,001.
  const counts = /count\(\*\)(?! FROM few)/i.test(text);
  if (showsTotal && counts) return [];
  return [
    ...scans.map((node) => `reads the whole of ${node['Relation Name']}: ${text.slice(0, 400)}`),
    ...(counts ? [`counts: ${text.slice(0, 200)}`] : []),
  ];
}

/** Returns all nodes of a plan except those of a search's `few`, which stops at 1,001 matches: a scan is chosen only when nearly every row matches. */
function flatten(node) {
  return [node, ...(node.Plans ?? []).filter((each) => each['Subplan Name'] !== 'CTE few').flatMap(flatten)];
}
