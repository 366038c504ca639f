/** Channels (contract §3). They are visible to all callers who are logged in. */

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly topic: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}
