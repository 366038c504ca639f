/** What a source delivered: a supergraph, and what the registry says about it. No I/O. */
import { readArtifact } from '@trestle/schema/artifact';

/** A launch of the registry (ADR 40). */
export interface ServedLaunch {
  /** The id of the launch. */
  readonly launch: string;
  /** The release of the environment that serves it. */
  readonly release: number;
}

/** A supergraph that is served. */
export interface ServedSupergraph {
  readonly role: 'current' | 'canary';
  readonly hash: string;
  /** Undefined for a supergraph that does not come from the registry. */
  readonly launch: ServedLaunch | undefined;
  /** The share of requests of a canary, 1 to 99. */
  readonly percent?: number | undefined;
}

/** A supergraph as an engine loads it. */
export interface Delivered {
  readonly sdl: string;
  /** Undefined for a supergraph that does not come from the registry. */
  readonly launch: ServedLaunch | undefined;
  /** Another supergraph, for a share of requests. */
  readonly canary: DeliveredCanary | undefined;
}

export interface DeliveredCanary {
  readonly sdl: string;
  readonly launch: ServedLaunch;
  /** 1 to 99. */
  readonly percent: number;
}

/** That a process has ended a canary, because it was worse than the current launch or could not be loaded. */
export interface CanaryReturn extends ServedLaunch {
  readonly reason: string;
}

/** Returns the parts of what a source delivered. The source has verified the signature. */
export function readDelivered(text: string): Delivered {
  const artifact = readArtifact(text);
  if (!artifact) return { sdl: text, launch: undefined, canary: undefined };
  const { release, launch, supergraphSdl, canary } = artifact;
  return {
    sdl: supergraphSdl,
    launch: { launch, release },
    canary: canary && { sdl: canary.supergraphSdl, launch: { launch: canary.launch, release }, percent: canary.percent },
  };
}
