#!/usr/bin/env python3
"""Writes types.txt: the built-in types of Kubernetes as one compact table.

Usage: generate_types.py [VERSION] > types.txt        (VERSION defaults to 1.36.4; needs `go`)

The facts come from public sources of that version, all Apache-2.0:
  - the OpenAPI v3 documents in k8s.io/kubernetes/api/openapi-spec/v3: types, fields, required
    fields, list kinds with their keys and the keys' defaults, atomic maps and structs;
  - the `json:"..."` tags of the Go types in k8s.io/{api,apimachinery,apiextensions-apiserver,
    kube-aggregator}: whether a field is left out, or written as zero or null, when it has no value;
  - their `protobuf:"..."` tags (the field's number on the wire) and their `patchStrategy:"..."` and
    `patchMergeKey:"..."` tags (how strategic merge patches treat it).

The grammar of the table is described in src/schema/table.rs, its only reader.
"""

import glob
import json
import os
import re
import subprocess
import sys

PREFIXES = [
    ("io.k8s.api.", "k8s.io/api", ""),
    ("io.k8s.apimachinery.pkg.apis.", "k8s.io/apimachinery", "pkg/apis/"),
    ("io.k8s.apimachinery.pkg.", "k8s.io/apimachinery", "pkg/"),
    ("io.k8s.apiextensions-apiserver.pkg.apis.", "k8s.io/apiextensions-apiserver", "pkg/apis/"),
    ("io.k8s.kube-aggregator.pkg.apis.", "k8s.io/kube-aggregator", "pkg/apis/"),
]
# Types that the wire shows as something other than an object with fields.
LEAVES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "q",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "t",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "u",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "x",
}
SCALARS = {
    ("string", None): "s",
    ("string", "byte"): "y",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("number", "double"): "n",
    ("boolean", None): "b",
}


def module(path, version):
    out = subprocess.run(
        ["go", "mod", "download", "-json", f"{path}@{version}"], capture_output=True, check=True
    )
    return json.loads(out.stdout)["Dir"]


def short(name):
    for prefix, _, _ in PREFIXES:
        if name.startswith(prefix):
            return name[len(prefix):]
    return name


class GoTypes:
    """The struct fields of the Go packages, by OpenAPI name of the type."""

    FIELD = re.compile(r'^\s+(?:(\w+)\s+)?(\S+)\s+`((?:[^`]*\s)?json:"([^",]*)((?:,\w+)*)"[^`]*)`')
    NUMBER = re.compile(r'protobuf:"\w+,(\d+)')
    STRATEGY = re.compile(r'patchStrategy:"([^"]*)"')
    MERGE_KEY = re.compile(r'patchMergeKey:"([^"]*)"')

    def __init__(self, version):
        self.version = version
        self.packages = {}

    def package(self, name):
        prefix, path, sub = next(p for p in PREFIXES if name.startswith(p[0]))
        folder = sub + name[len(prefix):].rsplit(".", 1)[0].replace(".", "/")
        key = (path, folder)
        if key not in self.packages:
            root = module(path, "v0." + self.version.split(".", 1)[1])
            self.packages[key] = self.parse(os.path.join(root, folder))
        return self.packages[key]

    def parse(self, folder):
        structs, current = {}, None
        for path in sorted(glob.glob(folder + "/*.go")):
            for line in open(path):
                start = re.match(r"type (\w+) struct \{", line)
                if start:
                    current = structs.setdefault(start.group(1), [])
                elif line.startswith("}"):
                    current = None
                elif current is not None:
                    field = self.FIELD.match(line)
                    if field:
                        current.append(field.groups())
        return structs

    def fields(self, name, above=()):
        """json name -> (go type, set of tag options, numbers on the wire, patch strategy)"""
        found = {}
        structs = self.package(name)
        for _, go, tags, json_name, options in structs.get(name.rsplit(".", 1)[1], []):
            number = self.NUMBER.search(tags)
            numbers = above + ((number.group(1),) if number else ())
            if "inline" in options:
                inner = self.fields(self.inlined(name, go), numbers)
                # What is inlined without a number (the type's own name) is not on the wire.
                found.update(inner if number else {k: v[:2] + ((), v[3]) for k, v in inner.items()})
            elif json_name not in ("", "-"):
                options = set(options.strip(",").split(","))
                found[json_name] = (go, options, numbers if number else (), self.strategy(tags))
        return found

    def strategy(self, tags):
        strategy, key = self.STRATEGY.search(tags), self.MERGE_KEY.search(tags)
        if strategy is None:
            return ""
        return strategy.group(1) + (":" + key.group(1) if key else "")

    def inlined(self, name, go):
        if "." in go:
            return "io.k8s.apimachinery.pkg.apis.meta.v1." + go.split(".")[1]
        return name.rsplit(".", 1)[0] + "." + go


def reference(schema):
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    for part in schema.get("allOf", []):
        return reference(part)
    return None


class Writer:
    def __init__(self, schemas, go):
        self.schemas, self.go = schemas, go
        self.recursive = {n for n in schemas if n in self.reachable(n)}

    def reachable(self, start):
        seen, todo = set(), [start]
        while todo:
            for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(self.schemas[todo.pop()])):
                if name not in seen:
                    seen.add(name)
                    todo.append(name)
        return seen

    def is_struct(self, name):
        return name is not None and "properties" in self.schemas[name]

    def expression(self, schema):
        name = reference(schema)
        if name in LEAVES:
            return LEAVES[name]
        atomic = "!" if schema.get("x-kubernetes-map-type") == "atomic" else ""
        if name is not None:
            sign = "&" if name in self.recursive else "@"
            return f"{sign}{atomic}{short(name)}" if self.is_struct(name) else "*"
        kind = schema.get("type")
        if kind == "array":
            return "[" + self.list_kind(schema) + self.expression(schema["items"])
        if kind == "object" and "additionalProperties" in schema:
            return "{" + atomic + self.expression(schema["additionalProperties"])
        return SCALARS.get((kind, schema.get("format")), "*")

    def list_kind(self, schema):
        kind = schema.get("x-kubernetes-list-type", "atomic")
        if kind == "set":
            return "="
        if kind == "atomic":
            return ""
        item = self.schemas[reference(schema["items"])]["properties"]
        keys = (self.key(item, k) for k in schema["x-kubernetes-list-map-keys"])
        return "<" + ",".join(keys) + ">"

    def key(self, item, name):
        default = item[name].get("default")
        return name if default is None else name + ":" + json.dumps(default)

    def encoding(self, go_fact, schema):
        """How a field without a value is written: see src/schema/table.rs."""
        if go_fact is None:
            return "?"
        go, options, _, _ = go_fact
        if go.startswith("*"):
            return "?" if "omitempty" in options else "0"
        name = reference(schema)
        is_value = name is not None and go[:1] != "["
        if "omitzero" in options or ("omitempty" in options and not is_value):
            return "-"
        return "+"

    def field(self, name, schema, required, fact):
        mark = "!" if name in required else ""
        line = f" {name}{mark} {self.encoding(fact, schema)}{self.expression(schema)}"
        _, _, numbers, strategy = fact or ("", (), (), "")
        if numbers:
            line += " #" + ".".join(numbers)
        return line + (" ~" + strategy if strategy else "")

    def type(self, name):
        schema = self.schemas[name]
        kinds = schema.get("x-kubernetes-group-version-kind", [])
        head = short(name)
        if schema.get("x-kubernetes-map-type") == "atomic":
            head += " !"
        if len(kinds) == 1:
            k = kinds[0]
            head += f" ={k['group']}/{k['version']}/{k['kind']}"
        facts = self.go.fields(name)
        required = schema.get("required", [])
        fields = sorted(schema["properties"].items())
        return [head] + [self.field(n, s, required, facts.get(n)) for n, s in fields]


def main():
    version = sys.argv[1] if len(sys.argv) > 1 else "1.36.4"
    root = module("k8s.io/kubernetes", "v" + version)
    schemas = {}
    for path in sorted(glob.glob(root + "/api/openapi-spec/v3/*.json")):
        schemas.update(json.load(open(path)).get("components", {}).get("schemas", {}))
    writer = Writer(schemas, GoTypes(version))
    print(f"# The built-in types of Kubernetes {version}. Generated by generate_types.py, which says")
    print("# where the facts come from (public OpenAPI documents and Go types, Apache-2.0).")
    for name in sorted(schemas, key=short):
        if writer.is_struct(name):
            print("\n".join(writer.type(name)))


main()
