/** The thread of `composer.ts`: composes one task after the other. It has no connection to anything else. */
import { parentPort } from 'node:worker_threads';
import { composeSubgraphs } from './compose-subgraphs.ts';
import type { ComposeReply, ComposeTask } from './compose-task.ts';

const port = parentPort;
if (!port) throw new Error('compose-worker.js must run in a worker thread.');
port.on('message', (task: ComposeTask) => {
  void run(task).then((reply) => {
    port.postMessage(reply);
  });
});

async function run(task: ComposeTask): Promise<ComposeReply> {
  try {
    return { kind: 'outcome', outcome: await composeSubgraphs(task) };
  } catch (error) {
    return { kind: 'crashed', reason: error instanceof Error ? error.message : String(error) };
  }
}
