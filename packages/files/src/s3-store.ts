/** Keeps files in a bucket of S3, or of a server that speaks its protocol. Loaded only when it is configured. */
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type FileStat, type FileStore, checkKey, measure } from './file-store.ts';

/** Where the bucket is. */
export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  /** The server's address; undefined for that of AWS. */
  readonly endpoint?: string | undefined;
  /** Undefined to find credentials as the SDK does, such as those of the machine's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Stands before every key, such as `content/`. */
  readonly prefix: string;
}

/** The smallest part that S3 accepts. Two parts are in memory at once: one is sent while the next one is received. */
const PART_BYTES = 5 * 1024 * 1024;
const PARTS_AT_ONCE = 1;
/** How long the server may take to accept a connection, and to send or receive the next byte. */
const TIMEOUTS = { connectionTimeout: 2000, socketTimeout: 10_000 };
/** A file that is read slowly keeps its connection. The bridges limit how many are read at once; the SDK's 50 would stop writes too. */
const AGENT = { maxSockets: 4096 };

/** Creates the store. It connects when it is first used. */
export function createS3Store({ bucket, region, endpoint, credentials, prefix }: S3Options): FileStore {
  const client = new S3Client({
    region,
    // A server of its own has its buckets in the path.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    requestHandler: { ...TIMEOUTS, httpAgent: AGENT, httpsAgent: AGENT },
    // Other servers do not know the checksums that AWS added in 2025.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const locate = (key: string) => {
    checkKey(key);
    return { Bucket: bucket, Key: prefix + key };
  };
  return {
    async put(key, content, options) {
      const measured = measure(content, options);
      const Body = Readable.from(measured.content, { objectMode: false });
      const params = { ...locate(key), Body };
      const uploading = send(new Upload({ client, params, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE }), options.signal);
      await uploading.catch((error: unknown) => {
        // A server that cannot abort the upload reports that in place of why it was aborted.
        throw measured.failure() ?? error;
      });
      return { key, ...measured.result() };
    },

    async open(key, range) {
      const Range = range && `bytes=${String(range.start)}-${String(range.end)}`;
      const found = await ifExists(client.send(new GetObjectCommand({ ...locate(key), ...(Range !== undefined && { Range }) })));
      return found?.Body as Readable | undefined;
    },

    async stat(key) {
      const found = await ifExists(client.send(new HeadObjectCommand(locate(key))));
      return found && { key, size: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date(0) };
    },

    async delete(key) {
      await client.send(new DeleteObjectCommand(locate(key)));
    },

    async *list(start) {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix + start }))
        for (const { Key = '', Size = 0, LastModified = new Date(0) } of Contents)
          yield { key: Key.slice(prefix.length), size: Size, modifiedAt: LastModified } satisfies FileStat;
    },

    removeUnfinished: (before) => abortUploads(client, { bucket, prefix, before }),

    async presignPut(key, { size, signedAt, expiresInSeconds }) {
      const command = new PutObjectCommand({ ...locate(key), ContentLength: size });
      const url = await getSignedUrl(client, command, {
        signingDate: signedAt,
        expiresIn: expiresInSeconds,
        signableHeaders: new Set(['content-length', 'host']),
      });
      const expiresAt = new Date(signedAt.getTime() + expiresInSeconds * 1000);
      return { method: 'PUT', url, headers: { 'content-length': String(size) }, expiresAt };
    },

    close: () => {
      client.destroy();
    },
  };
}

async function send(upload: Upload, signal: AbortSignal | undefined): Promise<void> {
  const abort = () => void upload.abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await upload.done();
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

interface Unfinished {
  readonly bucket: string;
  readonly prefix: string;
  readonly before: Date;
}

/** Aborts uploads in parts that began before a time. At most 1000 at once: the next sweep aborts the others. */
async function abortUploads(client: S3Client, { bucket: Bucket, prefix: Prefix, before }: Unfinished): Promise<void> {
  const { Uploads = [] } = await ifSupported(client.send(new ListMultipartUploadsCommand({ Bucket, Prefix })));
  for (const { Key, UploadId, Initiated = new Date(0) } of Uploads)
    if (Initiated < before && Key?.startsWith(Prefix))
      await ifExists(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
}

/** Resolves with an empty response of a server that cannot list unfinished uploads; such a server deletes them itself. */
async function ifSupported<T extends object>(reading: Promise<T>): Promise<Partial<T>> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && error.name === 'NotImplemented') return {};
    throw error;
  }
}

/** Resolves with undefined in place of the error that an object does not exist, or an upload: another process can have ended it meanwhile. */
async function ifExists<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && ['NoSuchKey', 'NoSuchUpload', 'NotFound'].includes(error.name)) return undefined;
    throw error;
  }
}
