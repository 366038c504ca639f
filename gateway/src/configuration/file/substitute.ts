/** Replaces `${NAME}` and `${NAME:default}` in strings of a configuration file by environment variables. */

/** The longest string after the replacement, in characters. */
const MAX_LENGTH = 65_536;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A string with its variables replaced, or the reason why that is not possible. */
export type Substituted =
  | {
      readonly text: string;
      /** Whether the string had a variable. */
      readonly hasVariables: boolean;
    }
  | { readonly fault: string };

const VARIABLE = /\$(\$?)\{([^}]*)(\}?)/g;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * Replaces the variables of a string. An empty variable counts as unset. `$${` stands for `${`. The values are not searched for variables. A fault
 * names variables, and never contains a value.
 */
export function substitute(text: string, environment: Environment): Substituted {
  const faults: string[] = [];
  let hasVariables = false;
  const replaced = text.replace(VARIABLE, (whole: string, ...groups: string[]) => {
    const [escape = '', content = '', end = ''] = groups;
    if (escape !== '') return whole.slice(1);
    hasVariables = true;
    const [name = '', ...rest] = content.split(':');
    if (end === '' || !NAME.test(name)) {
      faults.push('must have variables as `${NAME}` or `${NAME:default}`; write `$${` for the characters `${`');
      return '';
    }
    const given = rest.length > 0 ? rest.join(':') : undefined;
    const fault = given === undefined ? undefined : findDefaultFault(given, name);
    if (fault !== undefined) faults.push(fault);
    const value = (environment[name] ?? '') || given;
    if (value === undefined) faults.push(`needs the environment variable ${name}, which is not set; \`\${${name}:default}\` has a default`);
    return value ?? '';
  });
  const [fault] = faults;
  if (fault !== undefined) return { fault };
  if (replaced.length > MAX_LENGTH) return { fault: `must have at most ${String(MAX_LENGTH)} characters` };
  return { text: replaced, hasVariables };
}

/** Returns why a default is not taken as it is written: it would be a value that nobody means. */
function findDefaultFault(given: string, name: string): string | undefined {
  if (given.includes('${')) return `must have no variable in the default of the variable ${name}: what is inserted is not searched again`;
  if (given.startsWith('-'))
    return `must have the default of the variable ${name} right behind the colon, as \`\${${name}:default}\`: not \`:-\``;
  return undefined;
}
