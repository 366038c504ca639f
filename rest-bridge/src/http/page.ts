/** Pages for browsers: one style sheet within the page, no script, nothing fetched from anywhere. No I/O. */
import { createHash } from 'node:crypto';

export const PAGE_TYPE = 'text/html; charset=utf-8';

/** Returns the headers of a page whose only style is `style`, which the policy names by its hash (CSP 3 §6.6.2). */
export function toPageHeaders(style: string): Readonly<Record<string, string>> {
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { 'content-security-policy': policy.join('; '), 'referrer-policy': 'no-referrer' };
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Returns the text for use between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
