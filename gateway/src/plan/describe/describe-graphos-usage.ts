/**
 * Describes an operation for reports to GraphOS, once when it is prepared. The signature and the fields are those of Apollo Server, because GraphOS
 * identifies operations by their signatures.
 */
import { createHash } from 'node:crypto';
import { calculateReferencedFieldsByType, usageReportingSignature } from '@apollo/utils.usagereporting';
import { type DescribeUsage, MAX_COORDINATE_BYTES, MAX_TEXT, toDocument } from './describe-usage.ts';

/** Returns the function that describes the operations of a supergraph. Its id is the hash of its text, as in the reports of Apollo's router. */
export function createGraphosDescriber(sdl: string): DescribeUsage {
  const id = createHash('sha256').update(sdl).digest('hex');
  return (schema, used) => {
    const { name, operation: kind } = used.operation;
    const document = toDocument(used);
    const text = usageReportingSignature(document, name?.value ?? '');
    if (text.length > MAX_TEXT) return undefined;
    const types = Object.entries(calculateReferencedFieldsByType({ document, schema, resolvedOperationName: name?.value ?? null }));
    const uses = types.flatMap(([type, { fieldNames }]) => fieldNames.map((field) => `${type}.${field}`));
    if (uses.reduce((sum, each) => sum + each.length, 0) > MAX_COORDINATE_BYTES) return undefined;
    const interfaces = types.filter(([, { isInterface }]) => isInterface).map(([type]) => type);
    const hash = createHash('sha256').update(text).digest('hex');
    return { hash, name: name?.value, kind, text, uses, schema: { id, interfaces } };
  };
}
