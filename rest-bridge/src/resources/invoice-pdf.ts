/** Writes an invoice as PDF. Equal invoices give equal bytes, so that the entity tag is a strong one. */
import { createRequire } from 'node:module';
import PdfDocument from 'pdfkit';

interface Money {
  readonly amount: number;
  readonly currency: string;
}

interface Line {
  readonly qty: number;
  readonly unitPrice: number;
  readonly total: number;
  readonly product: { readonly name: string };
}

interface Invoice {
  readonly number: string;
  readonly total: number | Money;
  readonly currency?: string;
  readonly isPaid: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly customer: { readonly name: string } | null;
  readonly items: readonly Line[];
}

type Document = InstanceType<typeof PdfDocument>;

const MARGIN = 56;
const LINE_HEIGHT = 20;
/** The right edges of the columns product, quantity, price and total, in points from the left edge of the page. */
const COLUMNS = [300, 350, 445, 539] as const;
// A free font with Latin, Greek, Cyrillic, Hebrew and Arabic letters; other characters are drawn as an empty box.
const FONT = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');

/** Returns the PDF of an invoice. `body` is the representation of `INVOICE_DOCUMENT` in any API version. */
export function toInvoicePdf(body: Readonly<Record<string, unknown>>): Promise<Buffer> {
  const invoice = body as unknown as Invoice;
  const { amount, currency } =
    typeof invoice.total === 'number' ? { amount: invoice.total, currency: invoice.currency ?? '' } : invoice.total;
  const dates = { CreationDate: new Date(invoice.createdAt), ModDate: new Date(invoice.updatedAt) };
  const document = new PdfDocument({
    size: 'A4',
    margin: MARGIN,
    font: FONT,
    // pdfkit derives the id of the file from these properties only.
    info: { Title: `Invoice ${invoice.number}`, ...dates },
  });
  const written = collect(document);
  const format = createMoneyFormat(currency);
  document.fontSize(22).text('Invoice', MARGIN, MARGIN);
  document.fontSize(11).moveDown();
  document.text(`Number: ${invoice.number}`);
  document.text(`Date: ${invoice.createdAt.slice(0, 10)}`);
  document.text(`Customer: ${toPlainLine(invoice.customer?.name ?? 'deleted account')}`);
  document.text(invoice.isPaid ? 'Paid' : 'Open');
  document.moveDown(2);
  writeRow(document, ['Product', 'Qty', 'Price', 'Total']);
  for (const { product, qty, unitPrice, total } of invoice.items)
    writeRow(document, [toPlainLine(product.name), String(qty), format(unitPrice), format(total)]);
  document.moveDown(0.5).fontSize(13);
  writeRow(document, ['', '', 'Sum', format(amount)]);
  document.end();
  return written;
}

/** Writes one row of the table; begins a new page when the row does not fit on the current one. */
function writeRow(document: Document, cells: readonly string[]): void {
  if (document.y + LINE_HEIGHT > document.page.height - MARGIN) document.addPage();
  const { y } = document;
  cells.forEach((cell, i) => {
    const left = i === 0 ? MARGIN : (COLUMNS[i - 1] ?? MARGIN) + 8;
    const width = (COLUMNS[i] ?? MARGIN) - left;
    document.text(cell, left, y, { width, height: LINE_HEIGHT - 6, ellipsis: true, lineBreak: true, align: i === 0 ? 'left' : 'right' });
  });
  document.x = MARGIN;
  document.y = y + LINE_HEIGHT;
}

/** Replaces control characters, line separators and bidirectional overrides, which would break the line or reorder the text after it. */
function toPlainLine(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** Creates a formatter of minor units with the currency's number of decimals (ISO 4217); two decimals for an unknown currency. */
function createMoneyFormat(currency: string): (minor: number) => string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return (minor) => format.format(minor / 10 ** digits);
}

function collect(document: Document): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('error', reject);
    document.on('end', () => {
      resolve(Buffer.concat(chunks));
    });
  });
}
