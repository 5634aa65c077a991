#!/usr/bin/env python3
"""Writes data/access.json: the cluster roles and bindings that an API server of Kubernetes begins with.

The facts are those of Kubernetes (Apache-2.0), as its release keeps them for its own tests. Give the directory of the
module k8s.io/kubernetes (`go mod download -json k8s.io/kubernetes@v1.36.4` says where it is).
"""
import json
import pathlib
import sys

import yaml

FILES = ["cluster-roles.yaml", "cluster-role-bindings.yaml"]


def bare(item):
    meta = {key: item["metadata"][key] for key in ("name", "labels", "annotations") if key in item["metadata"]}
    rest = {key: value for key, value in item.items() if key not in ("apiVersion", "metadata") and value is not None}
    return {"metadata": meta, **rest}


def main():
    place = pathlib.Path(sys.argv[1]) / "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata"
    items = [bare(item) for name in FILES for item in yaml.safe_load((place / name).read_text())["items"]]
    lines = ",\n".join(json.dumps(item, separators=(",", ":"), sort_keys=True) for item in items)
    target = pathlib.Path(__file__).parent.parent / "data/access.json"
    target.write_text(f"[\n{lines}\n]\n")


main()
