/** Documents of app deployments on the CDN of Hive, each read by its id: `<app>~<version>~<hash>`. */
import { exchange, toPlace } from './exchange.ts';
import { toEndpoint } from './hive-endpoint.ts';
import { SourceError, type SourceLimits, readFirst } from './source.ts';

/** Content delivery networks redirect to where a file lies. */
const MAX_REDIRECTS = 3;

/**
 * What Hive accepts as the name of an app, its version, and the hash of a document; older deployments have names and versions of up to 256 characters.
 * A name or version of dots only would lead to another path.
 */
const ID = /^(?!\.+~)[\w.-]{1,256}~(?!\.+~)[\w.-]{1,256}~[\w:-]{1,128}$/;

export interface HiveDocumentsOptions extends SourceLimits {
  /** The endpoints of a target, as Hive shows them: the CDN, and its mirrors. */
  readonly endpoints: readonly string[];
  /** The CDN access token. */
  readonly key: string;
}

export interface HiveDocuments {
  /** Returns whether an id has the form of those that Hive gives to documents. Others are never sent. */
  isId(id: string): boolean;
  /** Reads the text of a document; undefined when the CDN does not have it. Rejects with SourceError when no endpoint responds with either. */
  read(id: string, signal: AbortSignal): Promise<string | undefined>;
}

/** Creates the reader. An endpoint is tried when those before it have failed. */
export function createHiveDocuments({ endpoints, key, ...limits }: HiveDocumentsOptions): HiveDocuments {
  const headers = { 'x-hive-cdn-key': key };
  const apps = endpoints.map((endpoint) => toEndpoint(endpoint, 'apps'));
  const readAt = async (app: string, path: string, signal: AbortSignal): Promise<string | undefined> => {
    const url = new URL(app);
    url.pathname += path;
    const sent = { url: url.href, method: 'GET', headers, maxRedirects: MAX_REDIRECTS } as const;
    const { status, text } = await exchange(sent, { ...limits, statuses: [200, 404], signal });
    if (status === 404) return undefined;
    if (text.trim() === '') throw new SourceError(`${toPlace(url.href)}: responded with an empty body`);
    return text;
  };
  return {
    isId: (id) => ID.test(id),
    read(id, signal) {
      const path = `/${id.replaceAll('~', '/')}`;
      return readFirst(apps, (app) => readAt(app, path, signal));
    },
  };
}
