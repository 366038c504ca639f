/** The files of a request with an upload. */
import { describe, expect, it } from '@jest/globals';
import { FilePlaceholder, findFiles } from './upload.ts';

describe('findFiles', () => {
  it.each(['0', 'constructor', '__proto__', 'toString'])('finds the variables of the part %s', (name) => {
    const files = findFiles({ file: new FilePlaceholder(name), list: [new FilePlaceholder(name)] }, ['file', 'list']);
    expect(Object.entries(files ?? {})).toEqual([[name, ['variables.file', 'variables.list.0']]]);
  });
});
