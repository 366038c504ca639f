/** The part of s3rver, a small S3 server, that the tests use. */
declare module 's3rver' {
  /** The server. */
  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      silent: boolean;
      directory: string;
      configureBuckets: readonly { name: string }[];
    });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
