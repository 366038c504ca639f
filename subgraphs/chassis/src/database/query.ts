/** The type of a function that runs one SQL statement. */

/** Runs a statement with its parameters `$1`, `$2`, … and resolves with its rows. */
export type Query = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
