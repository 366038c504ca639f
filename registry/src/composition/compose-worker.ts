/** The thread of `composer.ts`: composes one task after the other. It has no connection to anything else. */
import { parentPort } from 'node:worker_threads';
import { makeContracts } from './make-contracts.ts';
import { composeSubgraphs } from './compose-subgraphs.ts';
import type { ComposeReply, Task } from './compose-task.ts';

const port = parentPort;
if (!port) throw new Error('compose-worker.js must run in a worker thread.');
port.on('message', (task: Task) => {
  void run(task).then((reply) => {
    port.postMessage(reply);
  });
});

async function run(task: Task): Promise<ComposeReply> {
  try {
    return { kind: 'outcome', outcome: await ('contracts' in task ? makeContracts(task) : composeSubgraphs(task)) };
  } catch (error) {
    return { kind: 'crashed', reason: error instanceof Error ? error.message : String(error) };
  }
}
