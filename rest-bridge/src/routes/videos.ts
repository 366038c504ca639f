/** Routes of videos. */
import { VIDEO } from '../resources/resources.ts';
import { getList, getOne, merge, notImplemented, remove } from './route-kinds.ts';
import type { Route } from './route.ts';

const needsCaller = true;
const resource = VIDEO;
const spec = 'contract §4';

/** The routes under `/videos`. */
export const videoRoutes: readonly Route[] = [
  getList({
    path: '/videos',
    operation: 'ListVideos',
    resource,
    summary: 'Lists videos',
    filter: 'VideoFilter',
    order: 'VideoOrderField',
    spec,
  }),
  notImplemented({ method: 'POST', path: '/videos', summary: 'Uploads a video', spec }),
  getOne({ path: '/videos/{id}', operation: 'GetVideo', resource, summary: 'Returns a video', spec }),
  merge({
    path: '/videos/{id}',
    operation: 'UpdateVideo',
    resource,
    summary: 'Updates a video',
    needsCaller,
    input: 'UpdateVideoInput',
    spec,
  }),
  remove({ path: '/videos/{id}', operation: 'DeleteVideo', resource, summary: 'Deletes a video', needsCaller, spec }),
  notImplemented({ method: 'GET', path: '/videos/{id}/content', summary: 'Returns the content of a video', needsCaller: false, spec }),
  notImplemented({ method: 'POST', path: '/videos/{id}/publish', summary: 'Publishes a video', spec: '§4.2' }),
];
