/** A supergraph at one or more addresses, read by conditional GET requests (RFC 9110 §13.1.2). */
import { exchange, toPlace } from './exchange.ts';
import { type Reading, SourceError, type SourceLimits, type SupergraphSource, readFirst } from './source.ts';

/** Content delivery networks redirect to where a file lies. */
const MAX_REDIRECTS = 3;

export interface UrlSourceOptions extends SourceLimits {
  /** The addresses, the preferred one first. All have the same supergraph. */
  readonly urls: readonly string[];
  /** Sent with each request, and never to another origin. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Default: the first address. */
  readonly place?: string;
}

/** Creates the source. An address is tried when those before it have failed. */
export function createUrlSource({ urls, headers, place, ...limits }: UrlSourceOptions): SupergraphSource {
  const placeOf = (url: string) => (urls.length > 1 ? { place: toPlace(url) } : {});
  let last: { readonly url: string; readonly etag: string } | undefined;
  const readUrl = async (url: string, signal: AbortSignal): Promise<Reading> => {
    // An ETag says something about the resource that had it only.
    const condition = last?.url === url ? last.etag : undefined;
    const conditions = condition === undefined ? {} : { 'if-none-match': condition };
    const sent = { url, method: 'GET', headers, conditions, maxRedirects: MAX_REDIRECTS } as const;
    const { status, etag, text } = await exchange(sent, { ...limits, statuses: [200, 304], signal });
    if (status === 304) {
      if (condition === undefined) throw new SourceError(`${toPlace(url)}: responded with 304 to a request without a condition`);
      return { sdl: undefined, ...placeOf(url) };
    }
    if (text.trim() === '') throw new SourceError(`${toPlace(url)}: responded with an empty body`);
    last = etag === undefined ? undefined : { url, etag };
    return { sdl: text, ...placeOf(url) };
  };
  return {
    place: place ?? toPlace(urls[0] ?? ''),
    read: (signal) => readFirst(urls, (url) => readUrl(url, signal)),
  };
}
