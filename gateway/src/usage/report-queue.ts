/** The reports that were not sent yet, the oldest first, bounded in bytes. No I/O. */
import type { UsageReport } from './usage-destination.ts';

/** What a report takes beside its body. */
const REPORT_BYTES = 500;

export class ReportQueue {
  readonly #maxBytes: number;
  readonly #onDrop: (report: UsageReport) => void;
  #reports: UsageReport[] = [];
  #bytes = 0;

  /** `onDrop` is called for each of the oldest reports that make room for newer ones. */
  constructor(maxBytes: number, onDrop: (report: UsageReport) => void) {
    this.#maxBytes = maxBytes;
    this.#onDrop = onDrop;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get first(): UsageReport | undefined {
    return this.#reports[0];
  }

  add(report: UsageReport): void {
    this.#reports.push(report);
    this.#bytes += report.body.length + REPORT_BYTES;
    while (this.#bytes > this.#maxBytes) {
      const oldest = this.#take();
      if (!oldest) return;
      this.#onDrop(oldest);
    }
  }

  /** Removes the oldest report. Returns false when it is another one, because this one was dropped. */
  remove({ id }: UsageReport): boolean {
    return this.first?.id === id && this.#take() !== undefined;
  }

  #take(): UsageReport | undefined {
    const report = this.#reports.shift();
    if (report) this.#bytes -= report.body.length + REPORT_BYTES;
    return report;
  }
}
