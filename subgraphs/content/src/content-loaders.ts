/** The batched reads of one request, each bound to what its caller may see. */
import { createLoadersByArguments, createRowLoader } from '@trestle/chassis/loaders';
import { type WindowArguments, readWindow } from '@trestle/chassis/window';
import type { Caller } from '@trestle/identity';
import type { Comment } from './comment.ts';
import { type CommentsArguments, readCommentsWindow } from './comments-window.ts';
import type { ContentStores } from './content-store.ts';
import type { PostFilter, PostOrderField } from './generated/resolvers.ts';
import { createLookup } from './lookup.ts';
import { MESSAGE_SORTING } from './message-store.ts';
import type { Message } from './message.ts';
import { createPages } from './pages.ts';
import { POST_SORTING } from './post-store.ts';
import { type Post, postSight, readPostFilter } from './post.ts';
import { videoSight } from './video.ts';

export type ContentLoaders = ReturnType<typeof createContentLoaders>;

export type PostsArguments = WindowArguments<PostOrderField> & { readonly filter?: PostFilter | null };

export function createContentLoaders(caller: Caller | null, stores: ContentStores) {
  const { posts, comments, videos, channels, messages } = stores;
  const postsSeen = postSight(caller);
  const tombstones = createRowLoader(stores.findDeleted, ({ id }) => id);
  const wasDeleted = async (id: string) => (await tombstones.load(id)) !== null;
  /** Channels and messages are not there for anonymous callers. */
  const ifLoggedIn = <Row>(load: (ids: readonly string[]) => Promise<Row[]>) => (caller ? load : () => Promise.resolve<Row[]>([]));

  return {
    post: createLookup({ noun: 'post', prefix: 'pst', load: (ids) => posts.findByIds(ids, postsSeen), wasDeleted }),
    comment: createLookup({ noun: 'comment', prefix: 'cmt', load: (ids) => comments.findByIds(ids, postsSeen), wasDeleted }),
    video: createLookup({ noun: 'video', prefix: 'vid', load: (ids) => videos.findByIds(ids, videoSight(caller)), wasDeleted }),
    channel: createLookup({ noun: 'channel', prefix: 'chn', load: ifLoggedIn(channels.findByIds), wasDeleted }),
    message: createLookup({ noun: 'message', prefix: 'msg', load: ifLoggedIn(messages.findByIds), wasDeleted }),

    /** Posts by the account that wrote them. */
    postsBy: createLoadersByArguments((args: PostsArguments) => {
      const scope = { filter: readPostFilter(args.filter ?? {}), sight: postsSeen };
      return createPages<Post>({
        window: readWindow(args, POST_SORTING),
        parentOf: ({ authorId }) => authorId,
        list: (authorIds, window) => posts.listByAuthors(authorIds, scope, window),
        count: (authorIds) => posts.countByAuthors(authorIds, scope),
      });
    }),

    /** Comments by the post they are about. */
    commentsOn: createLoadersByArguments((args: CommentsArguments) =>
      createPages<Comment>({
        window: readCommentsWindow(args),
        parentOf: ({ postId }) => postId,
        list: (postIds, window) => comments.listByPosts(postIds, postsSeen, window),
        count: (postIds) => comments.countByPosts(postIds, postsSeen),
      }),
    ),

    /** Messages by the channel they were said in. */
    messagesIn: createLoadersByArguments((args: WindowArguments<'ID'>) =>
      createPages<Message>({
        window: readWindow(args, MESSAGE_SORTING),
        parentOf: ({ channelId }) => channelId,
        list: messages.listByChannels,
        count: messages.countByChannels,
      }),
    ),
  };
}
