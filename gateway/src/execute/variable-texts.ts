/** The variables of one operation as JSON: each is written once for all fetches. */

export class VariableTexts {
  readonly #values: Readonly<Record<string, unknown>>;
  #texts: Map<string, string | undefined> | undefined;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  /** Returns the variables of these names that have a value, as members of a JSON object. */
  write(names: readonly string[]): string {
    let text = '';
    for (const name of names) {
      const texts = (this.#texts ??= new Map<string, string | undefined>());
      let value = texts.get(name);
      if (value === undefined && Object.hasOwn(this.#values, name)) {
        value = JSON.stringify(this.#values[name]);
        texts.set(name, value);
      }
      if (value !== undefined) text += `${text && ','}${JSON.stringify(name)}:${value}`;
    }
    return text;
  }
}
