/** Rows of videos. */
import { VIDEO } from '../reply/resources.ts';
import { announced, getList, getOne, merge, remove } from './kinds.ts';
import type { Row } from './row.ts';

const needsCaller = true;
const resource = VIDEO;
const spec = 'contract §4';

export const videoRows: readonly Row[] = [
  getList({
    path: '/videos',
    operation: 'ListVideos',
    resource,
    summary: 'Lists videos',
    filter: 'VideoFilter',
    order: 'VideoOrderField',
    spec,
  }),
  announced({ method: 'POST', path: '/videos', summary: 'Uploads a video', spec }),
  getOne({ path: '/videos/{id}', operation: 'GetVideo', resource, summary: 'Shows a video', spec }),
  merge({
    path: '/videos/{id}',
    operation: 'UpdateVideo',
    resource,
    summary: 'Changes a video',
    needsCaller,
    input: 'UpdateVideoInput',
    spec,
  }),
  remove({ path: '/videos/{id}', operation: 'DeleteVideo', resource, summary: 'Deletes a video', needsCaller, spec }),
  announced({ method: 'GET', path: '/videos/{id}/content', summary: 'Plays a video', needsCaller: false, spec }),
  announced({ method: 'POST', path: '/videos/{id}/publish', summary: 'Publishes a video', spec: '§4.2' }),
];
