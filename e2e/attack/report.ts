/** Prints outcomes as a table in Markdown. Pure. */
import { type Outcome, machineSlowdown } from './runner.ts';

const HEADINGS = ['verdict', 'target', 'family', 'attack', 'others’ p99 ms', 'machine', 'growth', 's', 'observed'] as const;

/** One line for people who wait. */
export function toLine({ attack, verdict, note, seconds }: Outcome): string {
  return `${verdict.padEnd(6)} ${attack.target.padEnd(11)} ${attack.name} (${seconds.toFixed(1)} s): ${note}`;
}

export function toTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(toRow);
  return [HEADINGS, HEADINGS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** How many there are of each verdict. */
export function toTotals(outcomes: readonly Outcome[]): string {
  return (['held', 'slow', 'broken'] as const)
    .map((verdict) => `${outcomes.filter((each) => each.verdict === verdict).length} ${verdict}`)
    .join(', ');
}

function toRow({ attack, verdict, note, seconds, growth, honest }: Outcome): string[] {
  const p99 = honest
    ? `${honest.before.p99.toFixed(0)} → ${honest.during.p99.toFixed(0)} (${(honest.during.p99 / honest.before.p99).toFixed(1)}×)`
    : '';
  const machine = honest ? `${machineSlowdown(honest.before, honest.during).toFixed(1)}×` : '';
  const grown = growth.mib < 1 ? '' : `${growth.process} +${growth.mib.toFixed(0)} MiB`;
  return [
    verdict,
    attack.target,
    attack.family,
    attack.name,
    p99,
    machine,
    grown,
    seconds.toFixed(1),
    note.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 400),
  ];
}
