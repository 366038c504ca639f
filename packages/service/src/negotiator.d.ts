/** The part of the package negotiator 1.1.0 that Trestle calls; the package has no types of its own. */
declare module 'negotiator' {
  class Negotiator {
    constructor(request: { readonly headers: { readonly accept?: string; readonly 'accept-encoding'?: string } });
    /** Returns the acceptable ones of `available`, the preferred one first; by default the ranges of the header, without their parameters. */
    mediaTypes(available?: readonly string[]): string[];
    /** Returns the acceptable ones of `available`, the preferred one first; `preferred` decides between equal weights. */
    encodings(available: readonly string[], options?: { readonly preferred: readonly string[] }): string[];
  }
  export = Negotiator;
}
