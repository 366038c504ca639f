/** Routes of resumable uploads: tus 1.0 with the extensions creation, expiration and termination (ADR 27). */
import { VIDEO_UPLOAD } from '../resources/file-resources.ts';
import { create, getOne } from './route-kinds.ts';
import { TUS_HEADERS, readTusCreation, requireTusVersion, toUploadHeaders } from '../http/tus.ts';
import type { OpenUpload } from '../http/response.ts';
import type { OperationRoute, Route } from './route.ts';

const needsCaller = true;
const resource = VIDEO_UPLOAD;
const spec = 'contract §4';

const tus = { headers: TUS_HEADERS, checkHeaders: requireTusVersion };

const STATE = {
  'Upload-Offset': 'How many bytes are stored.',
  'Upload-Length': 'The size of the whole content, in bytes.',
  'Upload-Expires': 'When the upload is deleted.',
};
const VERSION = {
  'Tus-Resumable': 'The version of the protocol of clients that speak tus: `1.0.0`. Any other version is answered with 412.',
};

const begin: OperationRoute = create({
  path: '/uploads',
  operation: 'CreateVideoUpload',
  resource,
  summary: 'Begins a resumable upload of a video',
  needsCaller,
  input: 'CreateVideoUploadInput',
  location: ({ id }) => `/uploads/${String(id)}`,
  isUnlisted: true,
  spec,
});

const read: OperationRoute = getOne({
  path: '/uploads/{id}',
  operation: 'GetVideoUpload',
  resource,
  summary: 'Returns how far an upload is',
  needsCaller,
  spec,
});

function toOpenUpload(result: unknown): OpenUpload {
  const { _need_id: id, _need_offset: offset, _need_size: size } = result as Readonly<Record<string, unknown>>;
  return { id: String(id), offset: Number(offset), size: Number(size) };
}

/** The routes under `/uploads`. Clients that speak tus describe a new upload by headers, and ask by HEAD how far it is. */
export const uploadRoutes: readonly Route[] = [
  {
    ...begin,
    ...tus,
    documented: {
      request: {
        ...VERSION,
        'Upload-Length': 'In place of a body: the size of the content, in bytes.',
        'Upload-Metadata':
          'In place of a body: `title` (or `filename`) and `sha256`, each with its value in base64, separated by commas (tus 1.0).',
      },
      response: STATE,
    },
    ...(begin.input.kind === 'body' && { input: { ...begin.input, fromHeaders: readTusCreation } }),
    toResponse: (result, represent, context) => {
      const response = begin.toResponse(result, represent, context);
      return { ...response, headers: { ...response.headers, ...toUploadHeaders(result) } };
    },
  },
  {
    ...read,
    ...tus,
    documented: { request: VERSION, response: STATE },
    // A stored offset would be wrong after the next part.
    toResponse: (result, represent, context) => ({
      ...read.toResponse(result, represent, context),
      headers: { 'cache-control': 'no-store', ...toUploadHeaders(result) },
    }),
  },
  {
    method: 'PATCH',
    path: '/uploads/{id}',
    operation: 'GetVideoUpload',
    resource,
    summary: 'Sends the next bytes of an upload; the last ones create the video, whose path is in `Content-Location`',
    needsCaller,
    spec,
    ...tus,
    documented: {
      request: { ...VERSION, 'Upload-Offset': 'How many bytes are stored already. Required; any other number is answered with 409.' },
      response: { ...STATE, 'Content-Location': 'The path of the video, once the upload is complete.' },
    },
    conditionsOn: 'collection',
    input: { kind: 'upload part' },
    success: { status: 204, content: 'none' },
    toResponse: (result) => ({ status: 204, upload: toOpenUpload(result), headers: toUploadHeaders(result) }),
  },
  {
    method: 'POST',
    path: '/uploads/{id}/completion',
    operation: 'GetVideoUpload',
    resource: { ...resource, fields: {}, defaultFields: [] },
    summary: 'Completes an upload whose content the client has stored itself, by the request `direct`; `Location` is the video',
    needsCaller,
    spec,
    idempotency: 'ignored',
    conditionsOn: 'collection',
    collectionPath: '/uploads/{id}',
    input: { kind: 'path' },
    success: { status: 201, content: 'none' },
    toResponse: (result) => ({ status: 201, upload: { ...toOpenUpload(result), isDirect: true } }),
  },
  {
    method: 'DELETE',
    path: '/uploads/{id}',
    operation: 'DeleteVideoUpload',
    resource,
    summary: 'Deletes an upload and its bytes; a video that it became remains',
    needsCaller,
    spec,
    conditionsOn: 'collection',
    input: { kind: 'path' },
    success: { status: 204, content: 'none' },
    toResponse: () => ({ status: 204 }),
    ...tus,
    documented: { request: VERSION },
  },
];
