/** The coprocessor: an extension in a process of its own, in any language, that is called over HTTP with JSON (docs/gateway/extensions.md). */
import { Agent as UndiciAgent } from '@trestle/http-client/undici';
import type { Agent } from 'undici';
import { isObject } from '../request/json.ts';
import { HookUnavailable } from './compile-hooks.ts';
import { type CoprocessorAnswer, mayReplace, readAnswer } from './coprocessor-answer.ts';
import type { CoprocessorSettings, CoprocessorStage, StageSettings } from './coprocessor-settings.ts';
import type { Extension, ExtensionRequest, OperationEvent, ResponseEvent } from './extension.ts';

const MAX_CONNECTIONS = 64;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** The limit at the stages at which a response may contain an operation or a result. */
const MAX_REPLACING_BYTES = 8 * 1024 * 1024;
const VERSION = 1;

/** An event of any stage. */
interface StageEvent {
  readonly request?: ExtensionRequest | undefined;
  readonly refuse: (code: string, message: string) => never;
  readonly setResponseHeader?: SetHeader;
  readonly setSubgraphHeader?: SetHeader;
  readonly setHeader?: SetHeader;
  readonly setOverrideLabels?: (labels: readonly string[]) => void;
  readonly readBody?: () => string;
  readonly listFetches?: () => unknown;
  readonly setOperation?: OperationEvent['setOperation'];
  readonly setBody?: ResponseEvent['setBody'];
}

type SetHeader = (name: string, value: string) => void;

/** Called when a call failed and the request goes on nevertheless. */
export type ReportPassed = (stage: CoprocessorStage, error: HookUnavailable, request: ExtensionRequest | undefined) => void;

/** Returns the extension that calls the coprocessor. */
export function createCoprocessor({ stages, headers }: CoprocessorSettings, reportPassed: ReportPassed): Extension {
  const agents = new AgentPool();
  const createHook = ({ stage, url, timeoutMs, onFailure }: StageSettings) => {
    const dispatcher = agents.get(timeoutMs, mayReplace(stage) ? MAX_REPLACING_BYTES : MAX_RESPONSE_BYTES);
    return async (event: StageEvent) => {
      const body = JSON.stringify({ ...writeFacts(event), version: VERSION, stage, ...writeRequest(event.request, headers) });
      let answer: Record<string, unknown> | undefined;
      try {
        answer = await exchange({ url, body, timeoutMs, dispatcher });
      } catch (error) {
        if (onFailure === 'refuse' || !(error instanceof HookUnavailable)) throw error;
        reportPassed(stage, error, event.request);
        return;
      }
      if (!answer) return;
      const readCall = () => JSON.parse(body) as Record<string, unknown>;
      apply(readAnswer(answer, stage, readCall), event);
    };
  };
  const hooks = Object.fromEntries(stages.map((each) => [each.stage, createHook(each)]));
  return { name: 'coprocessor', ...hooks, onStop: () => agents.stop() };
}

/** The connections to coprocessors. Stages with equal limits share them. */
class AgentPool {
  readonly #agents = new Map<string, Agent>();

  get(timeoutMs: number, maxBytes: number): Agent {
    const key = `${String(timeoutMs)} ${String(maxBytes)}`;
    const agent = this.#agents.get(key) ?? createAgent(timeoutMs, maxBytes);
    this.#agents.set(key, agent);
    return agent;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }
}

/** Creates connections whose responses may have so many bytes. */
function createAgent(timeoutMs: number, maxResponseSize: number): Agent {
  return new UndiciAgent({
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    connectTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize,
  });
}

/** What extensions keep of a request, for the coprocessor. */
const CONTEXT = Symbol('context of the coprocessor');

function writeRequest(request: ExtensionRequest | undefined, names: readonly string[]): object {
  if (!request) return { request: null };
  const { id, transport, method, url, caller } = request;
  const headers = Object.fromEntries(names.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])));
  return {
    request: { id, transport, method, url, headers },
    ...(caller !== undefined && { caller: caller && toPlainCaller(caller) }),
    context: request.state.get(CONTEXT) ?? {},
  };
}

/** Sets are no JSON, and a coprocessor needs no more of a token than an extension. */
function toPlainCaller({ userId, role, scopes, clientId }: NonNullable<ExtensionRequest['caller']>): object {
  return { userId, role, scopes: [...scopes], clientId };
}

/** Functions are left out of JSON. */
function writeFacts(event: StageEvent): object {
  return {
    ...event,
    ...(event.readBody && { body: event.readBody() }),
    ...(event.listFetches && { fetches: event.listFetches() }),
  };
}

interface Exchange {
  readonly url: string;
  readonly body: string;
  readonly timeoutMs: number;
  readonly dispatcher: Agent;
}

/** Returns what the coprocessor answers; undefined for 204. Rejects with HookUnavailable when it does not answer. */
async function exchange({ url, body, timeoutMs, dispatcher }: Exchange): Promise<Record<string, unknown> | undefined> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await dispatcher.request({ origin, path: pathname + search, method: 'POST', headers, body, signal });
    const text = await response.body.text();
    if (response.statusCode === 204) return undefined;
    if (response.statusCode !== 200) throw new Error(`status ${String(response.statusCode)}`);
    const answer = JSON.parse(text) as unknown;
    if (!isObject(answer)) throw new Error('the response is no JSON object');
    return answer;
  } catch (error) {
    throw new HookUnavailable('the coprocessor gave no usable response', { cause: error });
  }
}

/** Throws the refusal, and a TypeError for a header, an operation or a body that may not be set. */
function apply(answer: CoprocessorAnswer, event: StageEvent): void {
  const { refuse, responseHeaders, subgraphHeaders, context, overrideLabels, replaced } = answer;
  if (context) event.request?.state.set(CONTEXT, context);
  if (replaced) replace(replaced, event);
  setEach(responseHeaders, event.setResponseHeader);
  setEach(subgraphHeaders, event.setSubgraphHeader ?? event.setHeader);
  setLabels(overrideLabels, event.setOverrideLabels);
  if (refuse) event.refuse(refuse.code, refuse.message);
}

function replace(replaced: NonNullable<CoprocessorAnswer['replaced']>, { setOperation, setBody }: StageEvent): void {
  if (setBody) setBody(replaced['body'] as string);
  else setOperation?.(replaced);
}

function setEach(headers: CoprocessorAnswer['responseHeaders'], set: SetHeader | undefined): void {
  if (!headers) return;
  if (!set) throw new TypeError('The coprocessor set headers that this stage does not have');
  for (const [name, value] of Object.entries(headers)) set(name, value as string);
}

function setLabels(labels: unknown, set: StageEvent['setOverrideLabels']): void {
  if (labels === undefined || labels === null) return;
  if (!set) throw new TypeError('The coprocessor set labels of @override, which this stage does not have');
  set(labels as readonly string[]);
}
