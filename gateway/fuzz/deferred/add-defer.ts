/** Adds `@defer` to an operation: to some of its fragments, and to fragments around some of its selections. */
import { type DirectiveNode, type DocumentNode, Kind, type SelectionNode, type SelectionSetNode, parse, print, visit } from 'graphql';
import type { FuzzOperation } from '../operations.ts';
import type { Random } from '../random.ts';

/** Returns an operation that defers at most 20 fragments. The variable of `if`, if any, is one of the operation. */
export function addDefer({ query, variables }: FuzzOperation, random: Random): FuzzOperation {
  let count = 0;
  const define = (): DirectiveNode | undefined => {
    if (count >= 20 || !random.chance(0.4)) return undefined;
    count++;
    const condition = query.includes('$a:') && random.chance(0.2) ? 'if: $a' : '';
    const label = random.chance(0.5) ? `label: "l${String(count)}"` : '';
    return readDirective(condition + label === '' ? '@defer' : `@defer(${condition} ${label})`);
  };
  const deferred = visit(parse(query, { noLocation: true }), {
    SelectionSet: {
      leave(set): SelectionSetNode {
        const selections = set.selections.map((each) => withDefer(each, define));
        return { ...set, selections };
      },
    },
  });
  return { query: print(deferred), variables };
}

function withDefer(selection: SelectionNode, define: () => DirectiveNode | undefined): SelectionNode {
  const directive = define();
  if (!directive) return selection;
  if (selection.kind !== Kind.FIELD) return { ...selection, directives: [...(selection.directives ?? []), directive] };
  return {
    kind: Kind.INLINE_FRAGMENT,
    directives: [directive],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [selection] },
  };
}

function readDirective(text: string): DirectiveNode {
  const document: DocumentNode = parse(`{ ... ${text} { a } }`, { noLocation: true });
  const [operation] = document.definitions;
  const [fragment] = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections : [];
  const [directive] = fragment?.directives ?? [];
  if (!directive) throw new Error(`Not a directive: ${text}`);
  return directive;
}
