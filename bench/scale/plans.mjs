/** Reads from the server's log what it did for each statement (auto_explain). */
import { setTimeout as pause } from 'node:timers/promises';
import { BIG } from './rows.mjs';

/** Silent until `turnOn`: a duration on the command line would win over what is set later. */
export const EXPLAIN_FLAGS = ['session_preload_libraries=auto_explain', 'auto_explain.log_format=json'].flatMap((setting) => [
  '-c',
  setting,
]);

const LOG_TIMEOUT_MS = 20_000;

/** Collects the log; `explain` gives what was wrong with the plans of what `work` made the server do. */
export function createPlans() {
  let log = '';
  return {
    onLog: (text) => {
      log += text;
    },

    /** Makes every session of the server tell its plans from here on. */
    async turnOn(stack) {
      await stack.sql('users', 'ALTER SYSTEM SET auto_explain.log_min_duration = 0');
      await stack.sql('users', 'SELECT pg_reload_conf()');
    },

    async explain(stack, { showsTotal }, work) {
      log = '';
      await work();
      // What a statement of ours leaves in the log stands behind all that came before it.
      await stack.sql('users', "SELECT 'the end of the plans'");
      const deadline = Date.now() + LOG_TIMEOUT_MS;
      while (!log.includes('the end of the plans')) {
        if (Date.now() > deadline) throw new Error('The server told no plans');
        await pause(5);
      }
      const plans = Array.from(log.matchAll(/plan:\n(\s*\{[\s\S]*?\n[ \t]*\})\n(?=\S|$)/g), ([, json]) => JSON.parse(json));
      if (plans.length < 2) throw new Error('The server told no plans');
      return plans.flatMap((plan) => faultsOf(plan, showsTotal));
    },
  };
}

function faultsOf({ 'Query Text': query, Plan: plan }, showsTotal) {
  const scans = flatten(plan).filter((node) => node['Node Type'] === 'Seq Scan' && BIG.includes(node['Relation Name']));
  const text = query.replace(/\s+/g, ' ');
  // A search counts what it holds already, at most 1,001 ids.
  const counts = /count\(\*\)(?! FROM few)/i.test(text);
  if (showsTotal && counts) return [];
  return [
    ...scans.map((node) => `reads the whole of ${node['Relation Name']}: ${text.slice(0, 400)}`),
    ...(counts ? [`counts: ${text.slice(0, 200)}`] : []),
  ];
}

/** All nodes, but not those of a search's `few`: it stops at 1,001 matches, so that a scan is chosen only where nearly every row matches. */
function flatten(node) {
  return [node, ...(node.Plans ?? []).filter((each) => each['Subplan Name'] !== 'CTE few').flatMap(flatten)];
}
