"""The subgraph over HTTP. Run it with `python3 -m unittest`."""

import http.client
import json
import os
import threading
import unittest

from server import HERE, MAX_BODY_BYTES, Server
from subgraph import Subgraph

ENTITIES = "query ($of: [_Any!]!) { _entities(representations: $of) { ... on Product { warehouses { name } } ... on Warehouse { city } } }"


class ServerTest(unittest.TestCase):
    """What a gateway and other clients see."""

    @classmethod
    def setUpClass(cls):
        subgraph = Subgraph.read(os.path.join(HERE, "warehouses.graphql"), os.path.join(HERE, "warehouses.json"))
        cls.server = Server(("127.0.0.1", 0), subgraph)
        cls.thread = threading.Thread(target=cls.server.serve_forever)
        cls.thread.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.thread.join()

    def send(self, body, headers=None):
        """Returns the status and the JSON of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_address[1], timeout=10)
        self.addCleanup(connection.close)
        connection.request("POST", "/graphql", body, headers or {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def ask(self, query, variables=None):
        """Returns the result of a GraphQL request."""
        status, result = self.send(json.dumps({"query": query, "variables": variables}))
        self.assertEqual(status, 200)
        return result

    def test_serves_its_schema_to_a_gateway(self):
        sdl = self.ask("{ _service { sdl } }")["data"]["_service"]["sdl"]
        with open(os.path.join(HERE, "warehouses.graphql"), encoding="utf-8") as file:
            self.assertEqual(sdl, file.read())

    def test_adds_warehouses_to_products_and_finds_its_own_entities(self):
        of = [{"__typename": "Product", "id": "1"}, {"__typename": "Product", "id": "99"}]
        of += [{"__typename": "Warehouse", "id": "wh-east"}, {"__typename": "Warehouse", "id": "none"}]
        expected = [{"warehouses": [{"name": "North"}, {"name": "South"}]}, {"warehouses": []}, {"city": "Brno"}, None]
        self.assertEqual(self.ask(ENTITIES, {"of": of}), {"data": {"_entities": expected}})

    def test_answers_errors_in_the_form_of_graphql(self):
        for query in ("{ nothing }", "{", "{ warehouses }"):
            self.assertIn("message", self.ask(query)["errors"][0])
        self.assertIn("no entity", self.ask(ENTITIES, {"of": [{"__typename": "Order", "id": "1"}]})["errors"][0]["message"])

    def test_refuses_what_is_no_request_and_what_is_too_large(self):
        self.assertEqual(self.send("[")[0], 400)
        self.assertEqual(self.send("[" * 100000)[0], 400)
        self.assertEqual(self.send('{"query": 1}')[0], 400)
        self.assertEqual(self.send('{"query": "{ warehouses { id } }", "variables": 1}')[0], 400)
        self.assertEqual(self.send("", {"Content-Length": str(MAX_BODY_BYTES + 1)})[0], 413)
        self.assertEqual(self.send("", {"Content-Length": "-1"})[0], 411)


if __name__ == "__main__":
    unittest.main()
