import { expect, it } from '@jest/globals';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { createLogExport } from './log-export.ts';

it('leaves out a line that is no JSON object, and does not throw', async () => {
  const exporter = new OTLPLogExporter({ url: 'http://127.0.0.1:9/v1/logs' });
  const lines = createLogExport({ resource: resourceFromAttributes({}), exporter });
  for (const line of ['{"level":"info","route":undefined}\n', '', 'null', '"text"', '['])
    expect(() => {
      lines.add(line);
    }).not.toThrow();
  await lines.stop();
});
