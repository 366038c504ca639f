/** REST resources of files: videos, their uploads, and pictures of accounts. */
import { type Resource, accountReference, fileReference, lowerCase, plain } from './resource.ts';

/** The pictures of accounts, which are no representation in JSON. */
export const AVATAR: Resource = {
  type: 'User',
  fields: {
    id: { select: 'id' },
    name: { select: 'id', toValue: (id) => `avatar-${String(id)}` },
    content: { select: 'avatar { mediaType size sha256 }' },
  },
  defaultFields: ['id', 'name', 'content'],
  include: {},
  isVersioned: false,
};

/** Videos. */
export const VIDEO: Resource = {
  type: 'Video',
  fields: {
    ...plain('id', 'title'),
    status: lowerCase('status'),
    owner: accountReference('owner'),
    ...plain('durationSeconds'),
    content: fileReference('content'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'title', 'status', 'owner', 'durationSeconds', 'content', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
  links: {
    select: 'id content { mediaType } poster { mediaType }',
    toLinks: ({ id, content, poster }, prefix) => {
      const self = `${prefix}/videos/${String(id)}`;
      return {
        self: { href: self },
        ...(content !== null && content !== undefined && { content: { href: `${self}/content` } }),
        ...(poster !== null && poster !== undefined && { poster: { href: `${self}/poster` } }),
      };
    },
  },
};

/** The posters of videos, which are no representation in JSON. */
export const VIDEO_POSTER: Resource = {
  type: 'Video',
  fields: { poster: { select: 'poster { mediaType url }' } },
  defaultFields: ['poster'],
  include: {},
  isVersioned: false,
};

/** The content of videos, which is no representation in JSON. */
export const VIDEO_FILE: Resource = {
  type: 'Video',
  fields: { id: { select: 'id' }, name: { select: 'title' }, content: { select: 'content { mediaType size sha256 }' } },
  defaultFields: ['id', 'name', 'content'],
  include: {},
  isVersioned: false,
};

/** Resumable uploads of videos. */
export const VIDEO_UPLOAD: Resource = {
  type: 'VideoUpload',
  fields: {
    ...plain('id', 'title', 'size', 'offset', 'sha256'),
    direct: {
      select: 'direct { method url headers expiresAt }',
      schema: {
        description: 'The request by which the client may store the content itself; null when the file store has no address for clients.',
        type: ['object', 'null'],
        properties: {
          method: { type: 'string' },
          url: { type: 'string' },
          headers: { type: 'object', additionalProperties: { type: 'string' } },
          expiresAt: { type: 'string', format: 'date-time' },
        },
        required: ['method', 'url', 'headers', 'expiresAt'],
      },
    },
    ...plain('createdAt', 'expiresAt'),
  },
  defaultFields: ['id', 'title', 'size', 'offset', 'sha256', 'direct', 'createdAt', 'expiresAt'],
  include: {},
  needs: 'id size offset expiresAt',
  isVersioned: false,
  links: {
    select: 'id size offset video { id }',
    toLinks: ({ id, size, offset, video }, prefix) => {
      const self = `${prefix}/uploads/${String(id)}`;
      const isComplete = size !== undefined && offset === size;
      const found = video as { readonly id: string } | null;
      return {
        self: { href: self },
        ...(!isComplete && {
          append: { href: self, method: 'PATCH' },
          completion: { href: `${self}/completion`, method: 'POST' },
          delete: { href: self, method: 'DELETE' },
        }),
        ...(found && { video: { href: `${prefix}/videos/${found.id}` } }),
      };
    },
  },
};
