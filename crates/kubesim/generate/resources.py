#!/usr/bin/env python3
"""Write data/resources.jsonl: the built-in resources of a Kubernetes API server, one per line.

usage: resources.py DIRECTORY > ../data/resources.jsonl

DIRECTORY is `api/discovery` of the module k8s.io/kubernetes (Apache-2.0), for example
"$(go mod download -json k8s.io/kubernetes@v1.36.4 | jq -r .Dir)/api/discovery".
The recording there was made with every API switched on; a server serves only versions like
`v1` or `v2` unless told otherwise, so the others are left out.
"""

import json
import pathlib
import re
import sys


def read(directory, name):
    return json.loads((directory / name).read_text())


def group_versions(directory):
    yield "", "v1", "api__v1.json"
    for group in read(directory, "apis.json")["groups"]:
        for version in group["versions"]:
            if re.fullmatch(r"v\d+", version["version"]):
                file = f"apis__{group['name']}__{version['version']}.json"
                yield group["name"], version["version"], file


def subresource(entry):
    found = {"name": entry["name"].split("/", 1)[1], "kind": entry["kind"], "verbs": entry["verbs"]}
    for key in ("group", "version"):
        if entry.get(key):
            found[key] = entry[key]
    return found


def resource(group, version, entry, entries):
    found = {
        "group": group,
        "version": version,
        "plural": entry["name"],
        "singular": entry["singularName"],
        "kind": entry["kind"],
        "namespaced": entry["namespaced"],
        "verbs": entry["verbs"],
    }
    for key, ours in (("shortNames", "short_names"), ("categories", "categories"), ("storageVersionHash", "hash")):
        if entry.get(key):
            found[ours] = entry[key]
    prefix = entry["name"] + "/"
    subresources = [subresource(e) for e in entries if e["name"].startswith(prefix)]
    if subresources:
        found["subresources"] = subresources
    return found


def main():
    directory = pathlib.Path(sys.argv[1])
    for group, version, file in group_versions(directory):
        entries = read(directory, file)["resources"]
        for entry in entries:
            if "/" not in entry["name"]:
                print(json.dumps(resource(group, version, entry, entries), separators=(",", ":")))


main()
