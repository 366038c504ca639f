"""The schema of the subgraph: the fields of warehouses.graphql, and what the subgraph specification of Federation adds to them, by hand."""

import json
import re

from graphql_core import accept_any_value, build_schema, execute, name_types, set_resolver

# What a gateway asks: the SDL, and the fields of entities by their keys.
_ADDED_FIELDS = "  _service: _Service!\n  _entities(representations: [_Any!]!): [_Entity]!\n"
_ADDED_TYPES = """
scalar _Any
union _Entity = Product | Warehouse
type _Service { sdl: String! }
schema { query: Query }
"""
_LINK = re.compile(r"^extend schema .*$", re.MULTILINE)
_DIRECTIVE = re.compile(r" @\w+\([^()]*\)")
_MAX_ENTITIES = 1000


class Subgraph:
    """Answers GraphQL requests from the data of a warehouse system: `warehouses` and, by product, the ids of those that have it in `stock`."""

    def __init__(self, sdl, data):
        self._sdl = sdl
        self._warehouses = {each["id"]: dict(each, __typename="Warehouse") for each in data["warehouses"]}
        self._stock = data["stock"]
        # Federation's directives are for composition: the executable schema has none.
        executable = _DIRECTIVE.sub("", _LINK.sub("", sdl))
        self._schema = build_schema(executable.replace("type Query {\n", "type Query {\n" + _ADDED_FIELDS) + _ADDED_TYPES)
        accept_any_value(self._schema, "_Any")
        name_types(self._schema, "_Entity")
        set_resolver(self._schema, "Query", "warehouses", lambda *_: self._by_name(self._warehouses))
        set_resolver(self._schema, "Query", "_service", lambda *_: {"sdl": self._sdl})
        set_resolver(self._schema, "Query", "_entities", self._entities)
        set_resolver(self._schema, "Product", "warehouses", lambda product, *_: self._by_name(self._stock.get(product["id"], [])))

    @classmethod
    def read(cls, sdl_file, data_file):
        """Reads the schema and the data."""
        with open(sdl_file, encoding="utf-8") as sdl, open(data_file, encoding="utf-8") as data:
            return cls(sdl.read(), json.load(data))

    def answer(self, request):
        """Returns the result of a request: `query`, `variables`, `operationName`. Raises ValueError when it is no GraphQL request."""
        if not isinstance(request, dict) or not isinstance(request.get("query"), str):
            raise ValueError("The body must be a JSON object with the string `query`.")
        variables = request.get("variables") or {}
        if not isinstance(variables, dict):
            raise ValueError("`variables` must be a JSON object.")
        return execute(self._schema, request["query"], variables, request.get("operationName"))

    def _by_name(self, ids):
        return sorted((self._warehouses[each] for each in ids), key=lambda warehouse: warehouse["name"])

    def _entities(self, _parent, _info, representations):
        if len(representations) > _MAX_ENTITIES:
            raise ValueError("A request may ask for at most %d entities." % _MAX_ENTITIES)
        return [self._entity(each) for each in representations]

    def _entity(self, representation):
        """Returns the entity of a representation: any product, since others own them, and a warehouse when there is one with the id."""
        kind, key = representation.get("__typename"), str(representation.get("id"))
        if kind == "Product":
            return {"__typename": "Product", "id": key}
        if kind == "Warehouse":
            return self._warehouses.get(key)
        raise ValueError("This subgraph has no entity of the type %s." % json.dumps(kind))
