import { describe, expect, it } from '@jest/globals';
import { SAMPLE, createMarkers, findForeign, replaceMarker } from './marker.ts';

const next = createMarkers();
const [own, other] = [next(), next()];
const escaped = (text: string) => Array.from(text, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe('the markers of a response', () => {
  it('are foreign when they are those of another request', () => {
    expect(findForeign(`{"a":"${own}","b":"${own}"}`, own)).toEqual([]);
    expect(findForeign(`{"a":"${own}","b":"x${other}"}`, own)).toEqual([other]);
  });

  it('are found when they are written with escapes', () => {
    expect(findForeign(`{"a":"${escaped(own)}"}`, own)).toEqual([]);
    expect(findForeign(`{"a":"${escaped(other)}"}`, own)).toEqual([other]);
  });

  it('include bytes of memory that was overwritten', () => {
    const text = Buffer.concat([Buffer.from(`{"a":"${own}`), Buffer.alloc(3, 0xfe)]).toString();
    expect(findForeign(text, own)).toEqual(['bytes that are not UTF-8']);
  });

  it('are replaced, escaped ones as well', () => {
    expect(replaceMarker(`${SAMPLE} ${escaped(SAMPLE)}`, SAMPLE, own)).toBe(`${own} ${escaped(own)}`);
  });
});
