#!/usr/bin/env python3
"""Writes openapi.gz: the schemas that a real API server publishes of its built-in types.

Usage: record_openapi.py URL TOKEN < resources.jsonl > openapi.gz

One line for each type: its name, a tab, its schema as the server's OpenAPI v3 documents have it
(Kubernetes 1.36.4, Apache-2.0), with descriptions, values and defaults. Only `src/openapi/types.rs`
reads it.
"""

import gzip
import json
import ssl
import sys
import urllib.request

URL, TOKEN = sys.argv[1], sys.argv[2]
CONTEXT = ssl._create_unverified_context()


def schemas(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": "Bearer " + TOKEN})
    with urllib.request.urlopen(request, context=CONTEXT) as reply:
        return json.load(reply).get("components", {}).get("schemas", {})


def main():
    versions = {(r["group"], r["version"]) for r in map(json.loads, sys.stdin)}
    found = {}
    for group, version in sorted(versions):
        found.update(schemas(f"/openapi/v3/apis/{group}/{version}" if group else f"/openapi/v3/api/{version}"))
    lines = (f"{name}\t{json.dumps(found[name], separators=(',', ':'))}\n" for name in sorted(found))
    sys.stdout.buffer.write(gzip.compress("".join(lines).encode(), 9, mtime=0))


main()
