#!/usr/bin/env python3
"""Writes custom.json: what a real API server makes of good and bad custom resources.

Usage: record_custom.py URL TOKEN > custom.json

One definition with every sort of limit, default and list is registered; then objects are sent as
dry runs, as record_objects.py does for built-in kinds. `src/crd/recorded.rs` holds the simulator
to the replies.
"""

import json
import time

from record_objects import call, normal

TEXT = {"type": "string"}
SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10, "format": "int32"},
        "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0, "maximum": 1.5, "multipleOf": 0.5},
        "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
        "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "level": {"type": "integer", "enum": [1, 2]},
        "on": {"type": "boolean", "default": True},
        "maybe": {"type": "string", "nullable": True},
        "fallback": {"type": "string", "default": "x"},
        "port": {"x-kubernetes-int-or-string": True},
        "when": {"type": "string", "format": "date-time"},
        "ip": {"type": "string", "format": "ipv4"},
        "id": {"type": "string", "format": "uuid"},
        "odd": {"type": "string", "format": "nobody-knows"},
        "tags": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set", "maxItems": 3},
        "rules": {
            "type": "array",
            "minItems": 1,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["host", "proto"],
            "items": {
                "type": "object",
                "required": ["host"],
                "properties": {"host": TEXT, "proto": {"type": "string", "default": "TCP"}, "weight": {"type": "integer", "default": 1}},
            },
        },
        "labels": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string", "maxLength": 3}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "integer"}}},
        "nested": {"type": "object", "default": {}, "properties": {"deep": {"type": "integer", "default": 7}}},
        "object": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        "either": {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "any": {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "not": {"type": "string", "not": {"enum": ["no"]}},
        "all": {"type": "string", "allOf": [{"minLength": 2}, {"maxLength": 3}]},
    },
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "samples.record.io"},
    "spec": {
        "group": "record.io",
        "scope": "Namespaced",
        "names": {"plural": "samples", "kind": "Sample", "shortNames": ["sm"], "categories": ["all"]},
        "versions": [{
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": SPEC,
                "status": {"type": "object", "properties": {"phase": {"type": "string", "enum": ["A"]}}},
            }}},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"}},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        }],
    },
}
# What stands in the spec beside a size of 1.
SPECS = [
    {}, {"size": 0}, {"size": 11}, {"size": "1"}, {"size": 1.5}, {"size": 1.0}, {"size": True}, {"size": None}, {"size": {}},
    {"ratio": 0}, {"ratio": 0.5}, {"ratio": 0.3}, {"ratio": 2}, {"ratio": 1}, {"ratio": "x"},
    {"name": "a"}, {"name": "abcdef"}, {"name": "A1"}, {"name": "abc"}, {"name": 5}, {"name": None},
    {"color": "blue"}, {"color": None}, {"color": 1}, {"level": 3}, {"level": 2}, {"on": False}, {"on": "x"},
    {"maybe": None}, {"maybe": 1}, {"fallback": None}, {"fallback": ""},
    {"port": 1}, {"port": "http"}, {"port": True}, {"port": 1.5},
    {"when": "2026-01-02T03:04:05Z"}, {"when": "yesterday"}, {"when": "2026-01-02"}, {"ip": "1.2.3.4"}, {"ip": "1.2.3"}, {"id": "x"}, {"id": "123e4567-e89b-12d3-a456-426614174000"}, {"odd": "?"},
    {"tags": ["a", "b"]}, {"tags": ["a", "a"]}, {"tags": ["a", "b", "c", "d"]}, {"tags": "a"}, {"tags": [1]}, {"tags": []}, {"tags": [None]},
    {"rules": []}, {"rules": [{"host": "h"}]}, {"rules": [{}]}, {"rules": [{"host": "h"}, {"host": "h", "proto": "TCP"}]}, {"rules": [{"host": "h"}, {"host": "h", "proto": "UDP"}]}, {"rules": ["x"]}, {"rules": [{"host": "h", "x": 1}]},
    {"labels": {"a": "b"}}, {"labels": {"a": "long"}}, {"labels": {"a": "1", "b": "2", "c": "3"}}, {"labels": {"a": 1}}, {"labels": {"a": None}},
    {"free": {"x": {"y": [1, None]}}}, {"free": {"known": "x"}}, {"nested": {}}, {"nested": {"deep": None}}, {"nested": None}, {"nested": {"x": 1}},
    {"object": {}}, {"object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a b", "labels": {"x": "-"}}, "spec": {"x": 1}}}, {"object": {"apiVersion": "a/b/c", "kind": "P_d"}}, {"object": {"apiVersion": "v1", "kind": "Pod"}},
    {"either": {"a": "x"}}, {"either": {}}, {"either": {"a": "x", "b": "y"}}, {"any": {}}, {"any": {"a": "x", "b": "y"}}, {"not": "no"}, {"not": "yes"}, {"all": "a"}, {"all": "abcd"}, {"all": "ab"},
    {"unknown": 1},
]
OBJECTS = [
    {"metadata": {"name": "A_b"}, "spec": {"size": 1}},
    {"metadata": {"name": "case", "labels": {"a": "b c"}}, "spec": {"size": 1}},
    {"metadata": {"name": "case", "finalizers": ["x"]}, "spec": {"size": 1}},
    {"metadata": {"name": "case", "labels": {}}, "spec": {"size": 1}},
    {"metadata": {"name": "case"}, "spec": {"size": 1}, "status": {"phase": "B"}},
    {"metadata": {"name": "case"}, "spec": {}},
    {"metadata": {"name": "case"}},
    {"metadata": {"name": "case"}, "spec": []},
    {"metadata": {"name": "case"}, "spec": None},
    {"metadata": {"name": "case"}, "spec": {"size": 1}, "top": 1},
]


def main():
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    path = "/apis/record.io/v1/namespaces/default/samples"
    call("POST", crds, CRD)
    while not any(c["type"] == "Established" and c["status"] == "True" for c in (call("GET", crds + "/samples.record.io").get("status", {}).get("conditions") or [])):
        time.sleep(0.2)
    time.sleep(1)
    cases = []
    for given in OBJECTS + [{"metadata": {"name": "case"}, "spec": {**{"size": 1}, **spec}} for spec in SPECS]:
        given = {"apiVersion": "record.io/v1", "kind": "Sample", **given}
        reply = call("POST", path + "?dryRun=All", given)
        cases.append({"given": given, "reply": normal(reply)})
    definition = call("GET", crds + "/samples.record.io")
    call("DELETE", crds + "/samples.record.io")
    for name in ("uid", "creationTimestamp", "managedFields", "resourceVersion"):
        definition["metadata"].pop(name, None)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    print('{"definition":' + json.dumps(definition, separators=(",", ":")) + ',\n"cases":[\n' + lines + "\n]}")


main()
