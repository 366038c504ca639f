/** Which clients share what is kept. */

/** Which clients share results with PUBLIC fields only: those without a credential, or all. */
export const SHARING_MODES = ['anonymous', 'all'] as const;
export type Sharing = (typeof SHARING_MODES)[number];
