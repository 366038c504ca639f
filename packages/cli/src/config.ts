/** The environment variables of the command: REGISTRY_URL, REGISTRY_TOKEN, REGISTRY_ENVIRONMENT, NO_COLOR, FORCE_COLOR, TERM. */

/** Returns the variables of the process. An empty one counts as not set. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
}
