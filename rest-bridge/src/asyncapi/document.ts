/** Creates the AsyncAPI 3 document of what this system sends: event streams, webhooks and subscriptions (contract §4). No I/O. */
import { EVENT_TYPES, type EventType } from '@trestle/schema/event-types';
import type { GraphQLField, GraphQLSchema } from 'graphql';

type Json = Readonly<Record<string, unknown>>;

/** The public addresses of the system; those of an example when they are not known. */
export interface AsyncApiAddresses {
  /** The bridge's, such as `https://api.example.com`. */
  readonly bridge?: string;
  /** The gateway's, such as `https://graphql.example.com/graphql`. */
  readonly gateway?: string | undefined;
}

const EXAMPLE = { bridge: 'https://api.example.com', gateway: 'https://graphql.example.com/graphql' };
const string: Json = { type: 'string' };
const types: readonly (readonly [string, EventType])[] = Object.entries(EVENT_TYPES);
/** Sent to a webhook on request only: no stream and no list contains it. */
const PING = 'webhook.ping';

/** Returns the document. */
export function createAsyncApi(schema: GraphQLSchema, { bridge, gateway }: AsyncApiAddresses = {}): Json {
  const [rest, graphql] = [new URL(bridge === undefined || bridge === '' ? EXAMPLE.bridge : bridge), new URL(gateway ?? EXAMPLE.gateway)];
  const subscriptions = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  const isSecure = graphql.protocol === 'https:';
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Trestle',
      version: '1',
      description:
        'What the system sends. Events are CloudEvents 1.0; the same event has the same id everywhere. They contain ids and states, and no personal data.',
    },
    servers: {
      rest: { host: rest.host, protocol: rest.protocol.slice(0, -1), description: 'The REST API.', ...security('httpBearer') },
      graphql: {
        host: graphql.host,
        pathname: graphql.pathname,
        protocol: isSecure ? 'wss' : 'ws',
        description: 'GraphQL over WebSocket (graphql-transport-ws); also over server-sent events and multipart responses.',
        ...security('httpBearer'),
      },
    },
    defaultContentType: 'application/json',
    channels: toChannels(subscriptions, graphql.pathname),
    operations: toOperations(subscriptions),
    components: {
      messages: {
        ...Object.fromEntries(types.map(([name, type]) => [name, toMessage(name, type)])),
        ...Object.fromEntries(subscriptions.map((field) => [field.name, toResultMessage(field)])),
      },
      schemas: Object.fromEntries(types.map(([name, type]) => [name, toEventSchema(name, type)])),
      messageTraits: { webhook: { headers: WEBHOOK_HEADERS } },
      securitySchemes: {
        httpBearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token with the scope `events:read`.' },
      },
    },
  };
}

function security(scheme: string): Json {
  return { security: [{ $ref: `#/components/securitySchemes/${scheme}` }] };
}

function toChannels(subscriptions: readonly GraphQLField<unknown, unknown>[], graphqlPath: string): Json {
  const messages = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }]));
  const names = types.map(([name]) => name);
  return {
    events: {
      address: '/v1/events',
      title: 'Event stream',
      description:
        'Server-sent events: `GET` with `Accept: text/event-stream`. The id of an event is its position: `Last-Event-ID` resumes behind it. ' +
        '`type` selects types. Without that media type the same events are a list.',
      servers: [{ $ref: '#/servers/rest' }],
      messages: messages(names.filter((name) => name !== PING)),
    },
    webhooks: {
      address: null,
      title: 'Webhooks',
      description: 'A `POST` to the address of each webhook that selects the event, signed by Standard Webhooks.',
      messages: messages(names),
    },
    ...Object.fromEntries(
      subscriptions.map(({ name, description }) => [
        name,
        {
          address: graphqlPath,
          title: `Subscription ${name}`,
          ...(description != null && { description }),
          servers: [{ $ref: '#/servers/graphql' }],
          messages: messages([name]),
        },
      ]),
    ),
  };
}

function toOperations(subscriptions: readonly GraphQLField<unknown, unknown>[]): Json {
  const send = (channel: string, summary: string, more: Json = {}): Json => ({
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    summary,
    ...more,
  });
  return {
    sendEvent: send('events', 'Sends an event to a stream.'),
    deliverWebhook: send('webhooks', 'Delivers an event to a webhook; again after failures, with the same `webhook-id`.'),
    ...Object.fromEntries(
      subscriptions.map(({ name, args }) => [
        `${name}Result`,
        send(
          name,
          `Sends a result of the subscription \`${name}${args.length > 0 ? `(${args.map((arg) => arg.name).join(', ')})` : ''}\`.`,
        ),
      ]),
    ),
  };
}

/** The headers of a webhook (Standard Webhooks). A stream has none of them. */
const WEBHOOK_HEADERS: Json = {
  type: 'object',
  properties: {
    'webhook-id': { ...string, description: 'The id of the event: the same in each attempt and each replay.' },
    'webhook-timestamp': { ...string, description: 'The time of the attempt, in seconds since 1970.' },
    'webhook-signature': { ...string, description: '`v1,` and the signature in base 64; one for each valid secret, separated by spaces.' },
  },
};

function toMessage(name: string, { summary }: EventType): Json {
  return {
    name,
    title: name,
    summary,
    contentType: 'application/cloudevents+json',
    payload: { $ref: `#/components/schemas/${name}` },
    traits: [{ $ref: '#/components/messageTraits/webhook' }],
  };
}

/** Returns the schema of an event as CloudEvents demands it. */
function toEventSchema(name: string, { summary, source, subject, audiences, data }: EventType): Json {
  return {
    type: 'object',
    description: `${summary} For ${audiences.map((audience) => READERS[audience]).join(' or, when it is not public, for ')}.`,
    properties: {
      specversion: { const: '1.0' },
      id: { ...string, description: 'The id of the event, `evt_…`.' },
      source: { const: `/${source}` },
      type: { const: name },
      subject: { ...string, description: `The id of the ${subject}.` },
      time: { ...string, format: 'date-time', description: 'When it happened.' },
      datacontenttype: { const: 'application/json' },
      data: { type: 'object', properties: data },
    },
    required: ['specversion', 'id', 'source', 'type', 'time', 'data'],
  };
}

const READERS: Readonly<Record<EventType['audiences'][number], string>> = {
  PUBLIC: 'every reader',
  USER: 'every reader',
  OWNER: 'the account that it concerns and for administrators; events of posts and comments for moderators, too',
  ADMIN: 'administrators',
};

function toResultMessage({ name, type }: GraphQLField<unknown, unknown>): Json {
  return {
    name,
    title: name,
    summary: `A GraphQL result: \`data.${name}\` is a \`${String(type)}\` with the fields that the client selects.`,
    payload: {
      type: 'object',
      properties: { data: { type: ['object', 'null'] }, errors: { type: 'array' }, extensions: { type: 'object' } },
    },
  };
}
