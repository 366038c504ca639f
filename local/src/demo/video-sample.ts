/** What the rows of the demo videos say of their content. No I/O. */

/** Describes the file. */
export const SAMPLE = {
  mediaType: 'video/mp4',
  size: 4139,
  sha256: '0cce07128c895446ed6101b3d9a208e830a3020aafe827db74ed43e6ffd3593f',
} as const;

/** Returns the key of a video's file. */
export function toFileKey(videoId: string): string {
  return `videos/${videoId.replace('vid_', 'fil_')}`;
}
