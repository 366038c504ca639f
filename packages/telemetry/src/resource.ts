/** What all telemetry of a process says of it. */
import cluster from 'node:cluster';
import { hostname } from 'node:os';
import type { Resource } from '@opentelemetry/resources';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';
import type { TelemetrySettings } from './settings.ts';

const INSTANCE = 'service.instance.id';

/** Returns the resource of a process, with the attributes that {@link readResourceAttributes} reads. */
export async function createResource(service: string, settings: TelemetrySettings): Promise<Resource> {
  const { defaultResource, resourceFromAttributes } = await import('@opentelemetry/resources');
  // The default has `telemetry.sdk.name`, `.language` and `.version`, which the specification demands.
  return defaultResource().merge(resourceFromAttributes(readResourceAttributes(service, settings)));
}

/**
 * Returns the attributes. `service.name` is OTEL_SERVICE_NAME, else that of OTEL_RESOURCE_ATTRIBUTES, else `trestle-<service>` (OpenTelemetry,
 * "General SDK Configuration"). One of several workers has an instance of its own, because each counts alone: its number after that of the
 * settings, or after the name of the host.
 */
export function readResourceAttributes(service: string, settings: TelemetrySettings): Record<string, string> {
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: attributes } = settings;
  return {
    [ATTR_SERVICE_NAME]: `trestle-${service}`,
    ...Object.fromEntries(attributes),
    ...(name !== undefined && { [ATTR_SERVICE_NAME]: name }),
    ...(cluster.worker && { [INSTANCE]: `${attributes.get(INSTANCE) ?? hostname()}-${String(cluster.worker.id)}` }),
  };
}
