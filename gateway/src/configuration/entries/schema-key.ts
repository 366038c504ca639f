/** The key of a configuration file by which editors find its JSON Schema. It says nothing else. */
export const SCHEMA_KEY = '$schema';
