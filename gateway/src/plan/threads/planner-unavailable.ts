/** The planner could not start for a reason that may pass, such as too little memory: the supergraph may be valid. */
export class PlannerUnavailable extends Error {
  constructor(reason: unknown) {
    super(`The planner could not start: ${reason instanceof Error ? reason.message : String(reason)}`, { cause: reason });
    this.name = 'PlannerUnavailable';
  }
}
