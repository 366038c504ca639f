/** Settings of single subgraphs that have one of a few values. */
import { SettingsError, readFamily } from '@trestle/env';

/** Returns the values by the subgraph's name in lower case. `prefix` is that of the environment variables. Throws SettingsError that names every invalid value. */
export function readChoices<Choice extends string>(
  prefix: string,
  choices: readonly Choice[],
  env: Readonly<Record<string, string | undefined>>,
): Map<string, Choice> {
  const chosen = new Map<string, Choice>();
  const bad: string[] = [];
  for (const [name, value] of readFamily(prefix, env)) {
    const choice = choices.find((each) => each === value);
    if (choice) chosen.set(name, choice);
    else bad.push(`${prefix}${name.toUpperCase()}: must be one of ${choices.join(', ')}`);
  }
  if (bad.length > 0) throw new SettingsError(bad.join('\n'));
  return chosen;
}
