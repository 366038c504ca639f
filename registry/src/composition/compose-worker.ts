/** The thread of `composer.ts`: composes one task after the other. It has no connection to anything else. */
import { parentPort } from 'node:worker_threads';
import { makeContracts } from './make-contracts.ts';
import { composeSubgraphs } from './compose-subgraphs.ts';
import type { ComposeReply, Outcome, Task } from './compose-task.ts';
import { listInvalid } from './invalid-operations.ts';

const port = parentPort;
if (!port) throw new Error('compose-worker.js must run in a worker thread.');
port.on('message', (task: Task) => {
  void run(task).then((reply) => {
    port.postMessage(reply);
  });
});

function perform(task: Task): Outcome | Promise<Outcome> {
  if ('contracts' in task) return makeContracts(task);
  return 'validateFor' in task ? listInvalid(task) : composeSubgraphs(task);
}

async function run(task: Task): Promise<ComposeReply> {
  try {
    return { kind: 'outcome', outcome: await perform(task) };
  } catch (error) {
    return { kind: 'crashed', reason: error instanceof Error ? error.message : String(error) };
  }
}
