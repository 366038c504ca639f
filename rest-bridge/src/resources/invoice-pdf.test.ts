import { describe, expect, it } from '@jest/globals';
import { inflateSync } from 'node:zlib';
import { toInvoicePdf } from './invoice-pdf.ts';

const line = (name: string) => ({ qty: 2, unitPrice: 1250, total: 2500, product: { name } });
const invoice = {
  id: 'inv_1',
  number: 'INV-000042',
  total: 2500,
  currency: 'EUR',
  isPaid: true,
  createdAt: '2026-01-31T12:00:00Z',
  updatedAt: '2026-02-01T12:00:00Z',
  customer: { name: 'Ada Lovelace' },
  items: [line('Rope')],
};

const countPages = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length;

/** Returns the drawing instructions of all pages. */
function readStreams(pdf: Buffer): string {
  const text = pdf.toString('latin1');
  return Array.from(text.matchAll(/stream\r?\n([\s\S]*?)endstream/g), ([, bytes = '']) => {
    try {
      return inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1');
    } catch {
      return '';
    }
  }).join('\n');
}

describe('toInvoicePdf', () => {
  it('returns a PDF with equal bytes for equal invoices', async () => {
    const [first, second] = await Promise.all([toInvoicePdf(invoice), toInvoicePdf(invoice)]);
    expect(first.subarray(0, 5).toString()).toBe('%PDF-');
    expect(first.equals(second)).toBe(true);
    expect(first.equals(await toInvoicePdf({ ...invoice, isPaid: false }))).toBe(false);
    expect(first.toString('latin1')).toContain('Invoice INV-000042');
    expect(readStreams(first)).toContain('TJ');
  });

  it('accepts the money objects of version 2', async () => {
    expect(
      (await toInvoicePdf({ ...invoice, currency: 'none', total: { amount: 2500, currency: 'EUR' } })).equals(await toInvoicePdf(invoice)),
    ).toBe(true);
  });

  it('adds pages when the items do not fit on one', async () => {
    expect(countPages(await toInvoicePdf(invoice))).toBe(1);
    expect(
      countPages(await toInvoicePdf({ ...invoice, items: Array.from({ length: 200 }, (_, i) => line(`Part ${String(i)}`)) })),
    ).toBeGreaterThan(4);
  });

  it.each(['日本語の名前', 'שלום', 'مرحبا', '🙂 Ada', 'Ωμέγα', 'a'.repeat(5000), '\u200b\u0007', ''])(
    'writes the name %j',
    async (name) => {
      const pdf = await toInvoicePdf({ ...invoice, customer: { name }, items: [line(name)] });
      expect(countPages(pdf)).toBeGreaterThan(0);
    },
  );

  it.each(['JPY', 'BHD', 'XXX', 'ZZZ'])('writes amounts of %s', async (currency) => {
    await expect(toInvoicePdf({ ...invoice, currency, customer: null })).resolves.toBeInstanceOf(Buffer);
  });
});
