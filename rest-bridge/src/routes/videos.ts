/** Routes of videos. */
import { VIDEO, VIDEO_FILE, VIDEO_POSTER } from '../resources/file-resources.ts';
import { download, image, upload } from './file-route-kinds.ts';
import { accept, getList, getOne, merge, remove } from './route-kinds.ts';
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
  upload({
    path: '/videos',
    operation: 'UploadVideo',
    resource,
    summary: 'Uploads a video',
    needsCaller,
    location: ({ id }) => `/videos/${String(id)}`,
    spec,
  }),
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
  download({
    path: '/videos/{id}/content',
    operation: 'GetVideoContent',
    resource: VIDEO_FILE,
    summary: 'Returns the content of a video',
    owner: 'content',
    types: ['video/mp4', 'video/webm', 'video/quicktime'],
    spec,
  }),
  image({
    path: '/videos/{id}/poster',
    operation: 'GetVideoPoster',
    resource: VIDEO_POSTER,
    summary: 'Returns the poster of a published video',
    member: 'poster',
    types: ['image/png', 'image/jpeg'],
    spec,
  }),
  accept({
    path: '/videos/{id}/publish',
    operation: 'PublishVideo',
    jobType: 'PublishVideoJob',
    summary: 'Publishes a video; the job reads its content, and makes a poster',
    needsCaller,
    input: { kind: 'path' },
    conditionsOn: 'parent',
    spec: '§4.2',
  }),
];
