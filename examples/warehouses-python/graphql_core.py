"""Builds and executes schemas with graphql-core 3, and with graphql-core 2, which Debian 12 has: the few calls that differ between the two."""

import re

try:
    from graphql import build_schema as _build_schema
    from graphql import graphql_sync as _graphql_sync

    _RESOLVER = "resolve"
except ImportError:
    from graphql import build_ast_schema as _build_ast_schema
    from graphql import graphql as _graphql
    from graphql import parse as _parse
    from graphql.error import format_error as _format_error

    _RESOLVER = "resolver"

_IS_VERSION_3 = _RESOLVER == "resolve"
_DESCRIPTION = re.compile(r'^\s*"[^"\n]*"\s*$', re.MULTILINE)


def build_schema(sdl):
    """Returns the executable schema of an SDL whose descriptions stand on lines of their own."""
    if _IS_VERSION_3:
        return _build_schema(sdl)
    # Version 2 knows no descriptions.
    return _build_ast_schema(_parse(_DESCRIPTION.sub("", sdl)))


def set_resolver(schema, type_name, field_name, resolver):
    """Sets the function `resolver(parent, info, **arguments)` of a field."""
    setattr(schema.get_type(type_name).fields[field_name], _RESOLVER, resolver)


def accept_any_value(schema, scalar_name):
    """Has a scalar take the values of variables as they are. Version 2 refuses them by default."""
    schema.get_type(scalar_name).parse_value = lambda value: value


def name_types(schema, union_name):
    """Has a union find the type of a value by its key `__typename`."""
    schema.get_type(union_name).resolve_type = lambda value, info, *_: value["__typename"]


def execute(schema, query, variables, operation_name):
    """Returns the result of a request as a dictionary."""
    if _IS_VERSION_3:
        return _graphql_sync(schema, query, variable_values=variables, operation_name=operation_name).formatted
    result = _graphql(schema, query, variables=variables, operation_name=operation_name)
    formatted = {} if result.invalid else {"data": result.data}
    if result.errors:
        formatted["errors"] = [_format_error(error) for error in result.errors]
    return formatted
