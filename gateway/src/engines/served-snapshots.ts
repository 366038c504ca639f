/** The snapshots that an engine serves: the current one, and that of a canary, which a share of clients gets (ADR 43). */
import type { Log } from '@trestle/log';
import { CanaryJudge, type CanarySettings } from '../launches/canary-judge.ts';
import { createClientShare, type SharedRequest } from '../launches/client-share.ts';
import { type CanaryReturn, type Delivered, type DeliveredCanary, type ServedSupergraph, readDelivered } from '../launches/delivered.ts';
import { isFaulty } from '../launches/request-sample.ts';
import type { CanaryMetrics } from '../observability/supergraph-metrics.ts';
import type { OperationRequest, OperationResult, Outcome } from '../request/operation.ts';
import { withOutcome } from '../request/whole-outcome.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import { type WarmUpSettings, warmUp } from '../supergraph/warm-up.ts';
import type { RuntimeSettings } from './engine.ts';

export interface ServedOptions {
  /** Rejects for a supergraph that is not valid. */
  readonly load: (given: Pick<Delivered, 'sdl' | 'launch'>, settings: RuntimeSettings) => Promise<Snapshot>;
  /** Called when another snapshot is the current one. */
  readonly onSwitch: (snapshot: Snapshot) => void;
  readonly warmUp: WarmUpSettings;
  readonly canary: CanarySettings;
  readonly metrics: CanaryMetrics;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

interface RunningCanary {
  readonly given: DeliveredCanary;
  readonly snapshot: Snapshot;
  readonly isIn: (request: SharedRequest) => boolean;
  readonly judge: CanaryJudge;
}

type Done = (result: OperationResult) => void;

/** Subscriptions stay with the current launch: a stream outlives the canary. Documents that have the word elsewhere are served by it too. */
const SUBSCRIPTION = /\bsubscription\b/;

export class ServedSnapshots {
  readonly #options: ServedOptions;
  #settings: RuntimeSettings;
  #delivered: Delivered;
  #current: Snapshot;
  #canary: RunningCanary | undefined;
  /** The return that nobody has been notified of. */
  #pending: CanaryReturn | undefined;
  #notify: ((ended: CanaryReturn) => void) | undefined;
  /** The release whose canary was ended here, before the registry has ended it. */
  #returned: number | undefined;
  /** Changes run one after the other: each begins with what the one before has left. */
  #last: Promise<void> = Promise.resolve();

  private constructor(options: ServedOptions, { delivered, settings, current }: FirstSnapshot) {
    this.#options = options;
    [this.#delivered, this.#settings, this.#current] = [delivered, settings, current];
  }

  /** Serves the first snapshot, and the canary beside it. A canary that is not valid ends. */
  static async create(first: FirstSnapshot, options: ServedOptions): Promise<ServedSnapshots> {
    const served = new ServedSnapshots(options, first);
    options.onSwitch(first.current);
    await served.#setCanary(first.delivered.canary, { isReload: false });
    return served;
  }

  get current(): Snapshot {
    return this.#current;
  }

  get settings(): RuntimeSettings {
    return this.#settings;
  }

  get served(): readonly ServedSupergraph[] {
    const { hash, launch } = this.#current;
    const current = { role: 'current', hash, launch } as const;
    if (!this.#canary) return [current];
    const { snapshot, given } = this.#canary;
    return [current, { role: 'canary', hash: snapshot.hash, launch: given.launch, percent: given.percent }];
  }

  /** Serves what a source has delivered from now on. Rejects, and changes nothing, when the supergraph of the launch is not valid. */
  swap(text: string): Promise<void> {
    return this.#inOrder(() => this.#replace(readDelivered(text), this.#settings, { isReload: false }));
  }

  /**
   * Uses other settings from now on. Rejects, and changes nothing, when that is not possible. `onSwitch` is called when the next request has the other
   * settings: a canary is loaded with them afterwards, which may take long.
   */
  reconfigure(settings: RuntimeSettings, onSwitch: () => void): Promise<void> {
    return this.#inOrder(() => this.#replace(this.#delivered, settings, { isReload: true, onSwitch }));
  }

  /** Calls back when a canary is ended here: at once for one that has been, and later at most once for each release. */
  watchReturns(notify: (ended: CanaryReturn) => void): void {
    this.#notify = notify;
    if (this.#pending) notify(this.#pending);
    this.#pending = undefined;
  }

  /** Calls `run` with the snapshot for a request. During a canary the result is counted for its comparison. */
  run(request: OperationRequest, done: Done, run: (snapshot: Snapshot, done: Done) => void): void {
    const canary = this.#canary;
    if (!canary || SUBSCRIPTION.test(request.query)) {
      run(this.#current, done);
      return;
    }
    const isCanary = canary.isIn(request.context);
    const startedAt = performance.now();
    run(isCanary ? canary.snapshot : this.#current, (result) => {
      const judge = (outcome: Outcome) => {
        const judged = { isCanary, isError: isFaulty({ outcome, status: result.status }), ms: performance.now() - startedAt };
        this.#options.metrics.count(judged);
        const reason = canary.judge.add(judged);
        if (reason !== undefined && this.#canary === canary) this.#return(canary.given, reason);
      };
      done(withOutcome(result, judge));
    });
  }

  async stop(): Promise<void> {
    await this.#current.planner.stop();
    await this.#canary?.snapshot.planner.stop();
  }

  async #replace(given: Delivered, settings: RuntimeSettings, { isReload, onSwitch }: Replacement): Promise<void> {
    // Another release of the same supergraph: nothing needs to be planned, and no subscription is planned again.
    if (isReload || given.sdl !== this.#delivered.sdl) {
      const next = this.#findPromoted(given, isReload) ?? (await this.#loadWarm(given, settings));
      const last = this.#current;
      [this.#current, this.#settings] = [next, settings];
      if (this.#canary?.snapshot === next) this.#canary = undefined;
      onSwitch?.();
      last.retire();
      this.#options.onSwitch(next);
    }
    [this.#delivered, this.#current.launch] = [given, given.launch];
    await this.#setCanary(given.canary, { isReload });
  }

  /**
   * Returns the snapshot of the canary that becomes the current one. Its operations were planned when the canary began, so that nothing is waited for in
   * which the canary could end and retire its planner.
   */
  #findPromoted({ sdl }: Delivered, isReload: boolean): Snapshot | undefined {
    return !isReload && this.#canary?.given.sdl === sdl ? this.#canary.snapshot : undefined;
  }

  async #loadWarm(given: Pick<Delivered, 'sdl' | 'launch'>, settings: RuntimeSettings): Promise<Snapshot> {
    const { load, warmUp: limits, log } = this.#options;
    const next = await load(given, settings);
    await warmUp(next, this.#current, { ...limits, log });
    return next;
  }

  async #setCanary(given: DeliveredCanary | undefined, { isReload }: { readonly isReload: boolean }): Promise<void> {
    const { canary: settings, log } = this.#options;
    const last = this.#canary;
    const wanted = given?.launch.release === this.#returned ? undefined : given;
    if (wanted && last?.given.launch.release === wanted.launch.release && !isReload) return;
    const kept = !isReload && last?.given.sdl === wanted?.sdl ? last?.snapshot : undefined;
    if (last && !kept) this.#endCanary(last);
    if (!wanted) return;
    const { launch, percent } = wanted;
    try {
      const snapshot = kept ?? (await this.#loadWarm(wanted, this.#settings));
      snapshot.launch = launch;
      const isIn = createClientShare({ launch: launch.launch, percent, header: settings.header });
      this.#canary = { given: wanted, snapshot, isIn, judge: new CanaryJudge(settings) };
      log.info(`serving a canary to ${String(percent)} % of clients`, { hash: snapshot.hash });
    } catch (error) {
      log.warn('a canary cannot be loaded', { error });
      this.#return(wanted, 'The supergraph cannot be loaded by a gateway');
    }
  }

  /** Requests in flight end with the canary. */
  #endCanary({ snapshot }: RunningCanary): void {
    this.#canary = undefined;
    snapshot.retire();
  }

  #return({ launch }: DeliveredCanary, reason: string): void {
    if (this.#canary) this.#endCanary(this.#canary);
    this.#returned = launch.release;
    this.#options.metrics.countReturn();
    this.#options.log.warn(`ended the canary of release ${String(launch.release)}: ${reason}`);
    const ended = { ...launch, reason };
    if (this.#notify) this.#notify(ended);
    else this.#pending = ended;
  }

  #inOrder(change: () => Promise<void>): Promise<void> {
    const done = this.#last.then(change);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

interface Replacement {
  /** Whether all is loaded again, because settings have changed. */
  readonly isReload: boolean;
  readonly onSwitch?: () => void;
}

/** What a source has delivered at the start, and the snapshot of it. */
export interface FirstSnapshot {
  readonly delivered: Delivered;
  readonly settings: RuntimeSettings;
  readonly current: Snapshot;
}
