import { expect, it } from '@jest/globals';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { createLogExport } from './log-export.ts';

it('leaves out a line that is no JSON object, and does not throw', async () => {
  const lines = createLogExport({ resource: resourceFromAttributes({}), url: 'http://127.0.0.1:9/v1/logs' });
  for (const line of ['{"level":"info","route":undefined}\n', '', 'null', '"text"', '['])
    expect(() => {
      lines.add(line);
    }).not.toThrow();
  await lines.stop();
});
