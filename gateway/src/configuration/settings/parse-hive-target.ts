/** Reads the target of GraphQL Hive that usage is reported to. */

const SLUGS = /^[\w.-]{1,100}(?:\/[\w.-]{1,100}){2}$/;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the target. Throws for a text that is neither `organization/project/target` nor the id of a target. */
export function parseHiveTarget(text: string): string {
  // "." and ".." would change the path of the endpoint.
  const isPath = SLUGS.test(text) && !text.split('/').some((slug) => /^\.+$/.test(slug));
  if (!isPath && !ID.test(text)) throw new Error('must be organization/project/target, or the id of a target');
  return text;
}
