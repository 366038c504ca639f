/** What all telemetry of a process says of it. */
import cluster from 'node:cluster';
import { hostname } from 'node:os';
import type { Resource } from '@opentelemetry/resources';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';

/** Returns the resource of a process, with `trestle-<service>` as `service.name`. One of several workers has an instance of its own, because each counts alone. */
export async function createResource(service: string): Promise<Resource> {
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const instance = cluster.worker && { 'service.instance.id': `${hostname()}-${String(cluster.worker.id)}` };
  return resourceFromAttributes({ [ATTR_SERVICE_NAME]: `trestle-${service}`, ...instance });
}
