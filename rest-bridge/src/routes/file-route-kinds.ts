/** The kinds of routes of files: uploads, downloads and images (RFC 9110 §14). */
import { fail } from '@trestle/schema/errors';
import { HARMLESS } from '../http/media-types.ts';
import type { FileContent } from '../http/response.ts';
import type { OperationRoute } from './route.ts';
import { type CommonOptions, type CreateOptions, base, idOf, toCreated, withId } from './route-kinds.ts';

/** The fields of a resource that is a file. */
interface FileFields {
  readonly id: string;
  readonly name: string;
  readonly content: Pick<FileContent, 'mediaType' | 'size' | 'sha256'> | null;
}

/** Returns a `POST` of a file, as a form or by itself: 201 with `Location`. */
export function upload({ location, ...options }: CommonOptions & Pick<CreateOptions, 'location'>): OperationRoute {
  return {
    ...base('POST', { ...options, resource: withId(options.resource) }),
    input: { kind: 'upload' },
    success: { status: 201, content: 'resource' },
    toResponse: (result, represent, { prefix }) => {
      return toCreated(represent(result), `${prefix}${location({ id: idOf(result) })}`);
    },
  };
}

interface DownloadOptions extends CommonOptions, Pick<FileContent, 'owner'> {
  /** The media types that the file may have. */
  readonly types: readonly string[];
}

/** Returns a `GET` of a file of a resource, with the fields of `FileFields`: 200, 206, 304 or 416 (RFC 9110 §14). */
export function download({ owner, types, ...options }: DownloadOptions): OperationRoute {
  return {
    ...base('GET', options),
    input: { kind: 'path' },
    success: { status: 200, content: 'file', types },
    toResponse: (result, represent) => {
      const { id, name, content } = represent(result).body as unknown as FileFields;
      if (!content) throw fail('NOT_FOUND', 'The resource has no content.');
      return { status: 200, file: { ...content, owner, name, path: `/${options.path.split('/')[1] ?? ''}/${id}` } };
    },
  };
}

interface ImageOptions extends CommonOptions {
  /** The field of the resource: an object with `mediaType` and `url`, a data URL; or null. */
  readonly member: string;
  readonly types: readonly string[];
}

/** Returns a `GET` of a small image that the operation returns as a data URL: 200, 206, 304 or 416 (RFC 9110 §14). */
export function image({ member, types, ...options }: ImageOptions): OperationRoute {
  return {
    ...base('GET', options),
    input: { kind: 'path' },
    success: { status: 200, content: 'file', types },
    toResponse: (result, represent) => {
      const found = represent(result).body[member] as { readonly mediaType: string; readonly url: string } | null;
      if (!found) throw fail('NOT_FOUND', 'The resource has no content.');
      const bytes = Buffer.from(found.url.slice(found.url.indexOf(',') + 1), 'base64');
      return { status: 200, headers: HARMLESS, document: { type: found.mediaType, bytes } };
    },
  };
}
