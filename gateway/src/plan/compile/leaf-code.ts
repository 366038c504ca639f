/** Generates the code that writes leaf values and fixed strings. */
import { type GraphQLNamedType, isEnumType } from 'graphql';
import { quote } from '../selections/literals.ts';

/** Returns statements that write a fixed string in UTF-8; short ones byte by byte. */
export function literal(text: string): string {
  const bytes = Buffer.from(text);
  // `raw` writes one byte for each character, which is UTF-8 for ASCII alone (RFC 8259 §8.1).
  if (bytes.length > 32) return `${bytes.length === text.length ? 'raw' : 'utf8'}(${quote(text)});`;
  return `{const o=b;${[...bytes].map((byte, i) => `o[p+${String(i)}]=${String(byte)};`).join('')}p+=${String(bytes.length)};}`;
}

/** Returns the test and the statements for a leaf's value (GraphQL §3.5). IDs are written as strings (§3.5.5), values of custom scalars as the
 * subgraph gives them. */
export function leafOf(type: GraphQLNamedType): { test: string; write: string } {
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => `v===${quote(name)}`);
    return { test: names.length > 0 ? names.join('||') : 'false', write: 'str(v);' };
  }
  switch (type.name) {
    case 'Int':
      return { test: "typeof v==='number'&&(v|0)===v", write: 'num(v);' };
    case 'Float':
      return { test: "typeof v==='number'&&v-v===0", write: 'num(v);' };
    case 'Boolean':
      return { test: "typeof v==='boolean'", write: `if(v){${literal('true')}}else{${literal('false')}}` };
    case 'String':
      return { test: "typeof v==='string'", write: 'str(v);' };
    case 'ID':
      // A number that is not safe is not the one that the subgraph sent.
      return { test: "typeof v==='string'||Number.isSafeInteger(v)", write: "str(typeof v==='string'?v:''+v);" };
    default:
      // JSON.stringify writes a number that is not finite as null.
      return { test: "typeof v!=='number'||v-v===0", write: "if(typeof v==='string')str(v);else any(v);" };
  }
}
