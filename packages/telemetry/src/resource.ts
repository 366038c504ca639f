/** What all telemetry of a process says of it. */
import type { Resource } from '@opentelemetry/resources';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';

/** Returns the resource of a process, with `trestle-<service>` as `service.name`. */
export async function createResource(service: string): Promise<Resource> {
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  return resourceFromAttributes({ [ATTR_SERVICE_NAME]: `trestle-${service}` });
}
