#!/usr/bin/env python3
"""Writes columns.jsonl: the columns in which a real API server shows its resources as tables.

Usage: record_columns.py URL TOKEN < resources.jsonl > columns.jsonl

One line for each resource that can be listed: its group, its plural name and the definitions of its
columns as the server answers them (Kubernetes 1.36.4, Apache-2.0): name, type, format, description,
priority. Columns that most resources have alike are written once, in the first line, and named after
that. Resources that show nothing but name and creation are left out: that is what all others get.
Only `src/tables/columns.rs` reads it.
"""

import json
import ssl
import sys
import urllib.request

URL, TOKEN = sys.argv[1], sys.argv[2]
CONTEXT = ssl._create_unverified_context()
ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io"


def columns(path):
    headers = {"Authorization": "Bearer " + TOKEN, "Accept": ACCEPT}
    request = urllib.request.Request(URL + path, headers=headers)
    with urllib.request.urlopen(request, context=CONTEXT) as reply:
        return json.load(reply)["columnDefinitions"]


SHARED = ["Name", "Age", "Created At"]


def row(column):
    return [column[key] for key in ("name", "type", "format", "description", "priority")]


def write(value):
    print(json.dumps(value, separators=(",", ":")))


def main():
    shared = {}
    for path in ("/api/v1/configmaps", "/api/v1/limitranges"):
        shared.update({c["name"]: row(c) for c in columns(path) if c["name"] in SHARED})
    write(list(shared.values()))
    seen = set()
    for line in sys.stdin:
        resource = json.loads(line)
        group, version, plural = (resource[key] for key in ("group", "version", "plural"))
        if "list" not in resource["verbs"] or (group, plural) in seen:
            continue
        seen.add((group, plural))
        found = columns(f"/apis/{group}/{version}/{plural}" if group else f"/api/{version}/{plural}")
        rows = [c["name"] if shared.get(c["name"]) == row(c) else row(c) for c in found]
        if rows != ["Name", "Created At"]:
            write({"group": group, "plural": plural, "columns": rows})


main()
