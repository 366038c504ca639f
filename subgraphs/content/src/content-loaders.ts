/** The batched reads of one request, each bound to what its caller may see. */
import { createLoadersByArguments, createRowLoader } from '@trestle/chassis/loading/loaders';
import { type Window, type WindowArguments, readWindow } from '@trestle/chassis/paging/window';
import type { Caller } from '@trestle/identity';
import { COMMENT_SORTING } from './comment-store.ts';
import { type Comment } from './comment.ts';
import { type CommentsArguments, readCommentsWindow } from './comments-window.ts';
import type { ContentStores } from './content-store.ts';
import type { CommentFilter, CommentOrderField, PostFilter, PostOrderField } from './generated/resolvers.ts';
import { createLookup } from './lookup.ts';
import { MESSAGE_SORTING } from './message-store.ts';
import type { Message } from './message.ts';
import { createPages } from './pages.ts';
import { POST_SORTING } from './post-store.ts';
import { type Post, postSight, readPostFilter } from './post.ts';
import { videoSight } from './video.ts';

export type ContentLoaders = ReturnType<typeof createContentLoaders>;

export type PostsArguments = WindowArguments<PostOrderField> & { readonly filter?: PostFilter | null };

export type CommentWindowArguments = WindowArguments<CommentOrderField> & { readonly filter?: CommentFilter | null };

export function createContentLoaders(caller: Caller | null, stores: ContentStores) {
  const { posts, comments, videos, channels, messages } = stores;
  const postsSeen = postSight(caller);
  const tombstones = createRowLoader(stores.findDeleted, ({ id }) => id);
  const wasDeleted = async (id: string) => (await tombstones.load(id)) !== null;
  /** Channels and messages are not there for anonymous callers. */
  const ifLoggedIn = <Row>(load: (ids: readonly string[]) => Promise<Row[]>) => (caller ? load : () => Promise.resolve<Row[]>([]));

  const pagesOfComments = (window: Window, filter: CommentFilter) =>
    createPages<Comment>({
      window,
      parentOf: ({ postId }) => postId,
      list: (postIds, bounds) => comments.listByPosts(postIds, { filter, sight: postsSeen }, bounds),
      count: (postIds) => comments.countByPosts(postIds, { filter, sight: postsSeen }),
    });

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

    /** Comments by the post they are about: the oldest first (spec §2.3), or as a window on them. */
    commentsOn: createLoadersByArguments((args: CommentsArguments) => pagesOfComments(readCommentsWindow(args), {})),
    commentWindowsOn: createLoadersByArguments((args: CommentWindowArguments) =>
      pagesOfComments(readWindow(args, COMMENT_SORTING), args.filter ?? {}),
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
