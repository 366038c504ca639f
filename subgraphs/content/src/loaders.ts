/** The batched reads of one request, each limited to what the caller may see. */
import { createLoadersByArguments } from '@trestle/chassis/loading/loaders';
import { createLookup } from '@trestle/chassis/loading/lookup';
import { createWasDeleted } from '@trestle/chassis/loading/tombstones';
import { type WindowArguments, parseWindow } from '@trestle/chassis/paging/window';
import type { RequestContext } from '@trestle/chassis/request/context';
import { isJobOf } from '@trestle/chassis/jobs/job-kinds';
import { hasPrefix } from '@trestle/chassis/values/ids';
import type { Channel } from './channel/rules.ts';
import { COMMENT_SORTING } from './comment/store.ts';
import { type CommentsArguments, parseCommentsWindow } from './comment/window.ts';
import type { CommentFilter, CommentOrderField, PostFilter, PostOrderField } from './generated/resolvers.ts';
import { contentJobVisibility } from './job/rules.ts';
import type { Message } from './message/rules.ts';
import { MESSAGE_SORTING } from './message/store.ts';
import { parsePostFilter, postVisibility } from './post/rules.ts';
import { POST_SORTING } from './post/store.ts';
import type { ContentStores } from './stores.ts';
import { videoVisibility } from './video/rules.ts';

export type ContentLoaders = ReturnType<typeof createContentLoaders>;

type PostsArguments = WindowArguments<PostOrderField> & { readonly filter?: PostFilter | null };

type CommentsConnectionArguments = WindowArguments<CommentOrderField> & { readonly filter?: CommentFilter | null };

export function createContentLoaders(stores: ContentStores, { caller }: Pick<RequestContext, 'caller'>) {
  const { posts, comments, messages } = stores;
  const visibility = postVisibility(caller);

  return {
    ...createLookups(stores, caller),

    /** Posts by their author. */
    postsBy: createLoadersByArguments(({ filter, ...args }: PostsArguments) =>
      posts.pagesBy({
        by: 'authorId',
        scope: { ...parsePostFilter(filter ?? {}), visibility },
        window: parseWindow(args, POST_SORTING),
      }),
    ),

    /** Comments by their post, oldest first (spec §2.3). */
    commentsOn: createLoadersByArguments((args: CommentsArguments) =>
      comments.pagesBy({ by: 'postId', scope: { filter: {}, visibility }, window: parseCommentsWindow(args) }),
    ),
    /** Comments by their post, as a connection. */
    commentsConnectionOn: createLoadersByArguments(({ filter, ...args }: CommentsConnectionArguments) =>
      comments.pagesBy({ by: 'postId', scope: { filter: filter ?? {}, visibility }, window: parseWindow(args, COMMENT_SORTING) }),
    ),

    /** Messages by their channel. */
    messagesIn: createLoadersByArguments((args: WindowArguments<'ID'>) =>
      messages.pagesBy({ by: 'channelId', scope: undefined, window: parseWindow(args, MESSAGE_SORTING) }),
    ),
  };
}

function createLookups(
  { posts, comments, videos, channels, messages, jobs, findDeleted }: ContentStores,
  caller: RequestContext['caller'],
) {
  const wasDeletedFor = createWasDeleted(findDeleted);
  const wasDeleted = wasDeletedFor('all');
  const ofPosts = { filter: {}, visibility: postVisibility(caller) };
  const ofVideos = { filter: {}, visibility: videoVisibility(caller) };
  /** Channels and messages do not exist for anonymous callers. */
  const ifLoggedIn = <Row>(load: (ids: readonly string[]) => Promise<Row[]>) => (caller ? load : () => Promise.resolve<Row[]>([]));
  const loadChannels = ifLoggedIn<Channel>((ids) => channels.findByIds(ids));
  const loadMessages = ifLoggedIn<Message>((ids) => messages.findByIds(ids));

  const ofJobs = { filter: {}, visibility: contentJobVisibility(caller) };

  const wasPostDeleted = wasDeletedFor(ofPosts.visibility);
  const wasVideoDeleted = wasDeletedFor(ofVideos.visibility);

  return {
    job: createLookup({ noun: 'job', isId: isJobOf('content'), load: (ids) => jobs.findByIds(ids, ofJobs) }),
    post: createLookup({ noun: 'post', isId: hasPrefix('pst'), load: (ids) => posts.findByIds(ids, ofPosts), wasDeleted: wasPostDeleted }),
    /** Returns whether a post that the caller could see was deleted, and may have been one of this author. */
    wasPostDeletedOf: async (authorId: string, id: string) =>
      hasPrefix('pst')(id) && (await wasDeletedFor(ofPosts.visibility, authorId)(id)),
    comment: createLookup({
      noun: 'comment',
      isId: hasPrefix('cmt'),
      load: (ids) => comments.findByIds(ids, ofPosts),
      wasDeleted: wasPostDeleted,
    }),
    video: createLookup({
      noun: 'video',
      isId: hasPrefix('vid'),
      load: (ids) => videos.findByIds(ids, ofVideos),
      wasDeleted: wasVideoDeleted,
    }),
    channel: createLookup({ noun: 'channel', isId: hasPrefix('chn'), load: loadChannels, wasDeleted }),
    message: createLookup({ noun: 'message', isId: hasPrefix('msg'), load: loadMessages, wasDeleted }),
  };
}
