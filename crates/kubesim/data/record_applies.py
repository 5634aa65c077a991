"""Records how a real API server answers to sequences of writes.

    record_applies.py URL TOKEN PREFIX > ../tests/it/applies.json

PREFIX begins the names of the objects; take a fresh one for each run against the same server.
What no two servers have in common (uids, revisions, times, addresses, the order of equals) is
taken out. tests/it/apply.rs repeats the requests against the simulator."""
import json, ssl, sys, time, urllib.request, urllib.error
URL, TOKEN, PREFIX = sys.argv[1:4]
ctx = ssl._create_unverified_context()
TYPES = {"apply": "application/apply-patch+yaml", "force": "application/apply-patch+yaml",
         "json": "application/json-patch+json", "merge": "application/merge-patch+json"}

def ask(method, path, ctype, body):
    req = urllib.request.Request(URL + path, method=method, data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": "Bearer " + TOKEN, "Content-Type": ctype, "User-Agent": ""})
    try:
        with urllib.request.urlopen(req, context=ctx) as r: return r.status, json.load(r)
    except urllib.error.HTTPError as e:
        t = e.read().decode()
        try: return e.code, json.loads(t)
        except ValueError: return e.code, t

def request(verb, path, manager, body):
    q = "?fieldManager=" + manager if manager else ""
    if verb == "force": q += "&force=true"
    if verb in TYPES: return "PATCH", path + q, TYPES[verb], body
    return verb, path + q, "application/json", body

S = {"type": "string"}; I = {"type": "integer"}
obj = lambda **p: {"type": "object", "properties": p}
def m(v, atomic=False):
    d = {"type": "object", "additionalProperties": v}
    if atomic: d["x-kubernetes-map-type"] = "atomic"
    return d
def l(i, t, keys=None):
    d = {"type": "array", "items": i, "x-kubernetes-list-type": t}
    if keys: d["x-kubernetes-list-map-keys"] = keys
    return d
item = dict(obj(name=S, value=S, tags=l(S, "set")), required=["name"])
port = dict(obj(port=I, protocol={"type": "string", "default": "TCP"}, name=S), required=["port"])
spec = obj(text=S, number=I, size={"type": "string", "default": "small"}, group=obj(a=S, b=S), map=m(S), nested=m(m(S)), atomicMap=m(S, True),
    set=l(S, "set"), items=l(item, "map", ["name"]), ports=l(port, "map", ["port", "protocol"]), atomicList=l(item, "atomic"),
    plainList={"type": "array", "items": S}, any={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    maybe={"type": "string", "nullable": True})
crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.ex.io"},
  "spec": {"group": "ex.io", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
   "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
     "schema": {"openAPIV3Schema": obj(spec=spec, status=obj(text=S, conditions=l(dict(obj(type=S, status=S, reason=S), required=["type"]), "map", ["type"])))}}]}}

CM = "/api/v1/namespaces/default/configmaps"; SVC = "/api/v1/namespaces/default/services"
DEP = "/apis/apps/v1/namespaces/default/deployments"; W = "/apis/ex.io/v1/namespaces/default/widgets"
NS = "/api/v1/namespaces"
def cm(**k): return {"apiVersion": "v1", "kind": "ConfigMap", **k}
def w(spec=None, **k): return {"apiVersion": "ex.io/v1", "kind": "Widget", **({"spec": spec} if spec is not None else {}), **k}
def dep(spec, **k): return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec, **k}
def svc(spec, **k): return {"apiVersion": "v1", "kind": "Service", "spec": spec, **k}
def pod(containers, **k): return {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers, **k}}}
C = {"name": "c", "image": "nginx:1"}

scenarios = {
 "config map by hand": [
  ("POST", CM, "", cm(metadata={"name": "N", "labels": {"x": "1"}}, data={"a": "1"})),
  ("merge", CM + "/N", "hand", {"data": {"b": "2"}, "metadata": {"annotations": {"k": "v"}}}),
  ("json", CM + "/N", "hand", [{"op": "replace", "path": "/data/a", "value": "3"}]),
  ("json", CM + "/N", "hand", [{"op": "remove", "path": "/data/b"}]),
  ("merge", CM + "/N", "hand", {"data": None}),
  ("merge", CM + "/N", "other", {"binaryData": {"a": "eA=="}, "immutable": False}),
  ("GET", CM + "/N", "", None)],
 "config map applied": [
  ("apply", CM + "/N", "m1", cm(data={"a": "1", "b": "2"})),
  ("apply", CM + "/N", "m1", cm(data={"a": "1", "b": "2"})),
  ("apply", CM + "/N", "m2", cm(data={"a": "1"})),
  ("apply", CM + "/N", "m1", cm(data={"b": "2"})),
  ("apply", CM + "/N", "m3", cm(data={"a": "9", "b": "9"})),
  ("force", CM + "/N", "m3", cm(data={"a": "9", "b": "9"})),
  ("apply", CM + "/N", "m1", cm(data={})),
  ("apply", CM + "/N", "m1", cm()),
  ("apply", CM + "/N", "m3", cm(metadata={"labels": {"l": "1"}})),
  ("apply", CM + "/N", "m3", cm()),
  ("GET", CM + "/N", "", None)],
 "config map mixed": [
  ("POST", CM, "", cm(metadata={"name": "N"}, data={"x": "1"})),
  ("apply", CM + "/N", "m1", cm(data={"x": "2"})),
  ("force", CM + "/N", "m1", cm(data={"x": "2", "y": "1"})),
  ("merge", CM + "/N", "hand", {"data": {"y": "7"}}),
  ("apply", CM + "/N", "m1", cm(data={"x": "2", "y": "1"})),
  ("apply", CM + "/N", "m1", cm(data={"x": "2"})),
  ("merge", CM + "/N", "hand", {"metadata": {"finalizers": ["ex.io/a", "ex.io/b"]}}),
  ("apply", CM + "/N", "m1", cm(metadata={"finalizers": ["ex.io/b", "ex.io/c"]}, data={"x": "2"})),
  ("apply", CM + "/N", "m1", cm(data={"x": None})),
  ("apply", CM + "/N", "m1", cm(data={"x": 1})),
  ("apply", CM + "/N", "m1", cm(data=["x"])),
  ("apply", CM + "/N", "m1", cm(data={"x": "2"}, bogus=1)),
  ("apply", CM + "/N", "m1", cm(metadata={"managedFields": []})),
  ("merge", CM + "/N", "hand", {"metadata": {"finalizers": None}})],
 "managers reset": [
  ("apply", CM + "/N", "m1", cm(data={"x": "2"})),
  ("merge", CM + "/N", "hand", {"metadata": {"managedFields": []}}),
  ("merge", CM + "/N", "hand", {"data": {"y": "2"}}),
  ("apply", CM + "/N", "m1", cm(data={"x": "3"})),
  ("apply", CM + "/N", "m1", cm(data={"z": "3"})),
  ("merge", CM + "/N", "hand", {"metadata": {"managedFields": [{}]}}),
  ("json", CM + "/N", "hand", [{"op": "add", "path": "/metadata/managedFields", "value": [{"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:z": {}}}}]}]),
  ("apply", CM + "/N", "x", cm(data={}))],
 "many updaters": [("POST", CM, "u00", cm(metadata={"name": "N"}, data={"k00": "v"}))] +
  [("merge", CM + "/N", "u%02d" % i, {"data": {"k%02d" % i: "v"}}) for i in range(1, 13)],
 "deployment applied": [
  ("apply", DEP + "/N", "m1", dep({"replicas": 1, **pod([C])})),
  ("apply", DEP + "/N", "m2", dep({"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "A", "value": "1"}]}, {"name": "side", "image": "s", "ports": [{"containerPort": 80}]}]}}})),
  ("apply", DEP + "/N", "m2", dep({"replicas": 3, "template": {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}})),
  ("merge", DEP + "/N", "hand", {"spec": {"replicas": 2}}),
  ("apply", DEP + "/N", "m1", dep({"replicas": 1, **pod([C])})),
  ("apply", DEP + "/N", "m1", dep(pod([{**C, "ports": [{"containerPort": 80, "protocol": "UDP"}, {"containerPort": 80}], "resources": {"limits": {"cpu": "1000m"}}}]))),
  ("apply", DEP + "/N", "m1", dep(pod([{**C, "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1000m"}}}]))),
  ("force", DEP + "/N", "m2", dep({"template": {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}})),
  ("apply", DEP + "/N", "m1", dep(pod([C]), status={"replicas": 5})),
  ("json", DEP + "/N", "hand", [{"op": "add", "path": "/spec/template/spec/containers/0/args", "value": ["-v"]}]),
  ("GET", DEP + "/N", "", None)],
 "deployment by hand": [
  ("POST", DEP, "hand", dep(pod([{**C, "livenessProbe": {"httpGet": {"path": "/", "port": 80}}, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}], volumes=[{"name": "v", "emptyDir": {}}], nodeSelector={"a": "b"}), metadata={"name": "N", "labels": {"a": "b"}})),
  ("merge", DEP + "/N/status", "ctl", {"status": {"replicas": 1, "conditions": [{"type": "Available", "status": "True", "reason": "r", "message": "m"}]}}),
  ("merge", DEP + "/N/scale", "scaler", {"spec": {"replicas": 4}}),
  ("apply", DEP + "/N/status", "ssa", dep({"replicas": 9}, status={"replicas": 1, "readyReplicas": 1})),
  ("apply", DEP + "/N", "ssa", dep({"replicas": 4})),
  ("apply", DEP + "/N", "ssa", dep({"replicas": 5})),
  ("GET", DEP + "/N", "", None)],
 "service applied": [
  ("apply", SVC + "/N", "m1", svc({"selector": {"a": "b"}, "ports": [{"port": 80}]})),
  ("apply", SVC + "/N", "m2", svc({"ports": [{"port": 443, "name": "tls"}]})),
  ("apply", SVC + "/N", "m1", svc({"selector": {"a": "b"}, "ports": [{"port": 80, "name": "web"}]})),
  ("apply", SVC + "/N", "m2", svc({"ports": [{"port": 443, "name": "tls"}, {"port": 80, "protocol": "TCP", "name": "web"}]})),
  ("apply", SVC + "/N", "m2", svc({"ports": [{"port": 53, "protocol": "UDP", "name": "dns"}]})),
  ("merge", SVC + "/N", "hand", {"spec": {"ports": [{"port": 81, "name": "new"}]}}),
  ("apply", SVC + "/N", "m1", svc({"selector": {"a": "c"}, "ports": [{"port": 81, "name": "new"}, {"port": 81, "name": "dup"}]})),
  ("apply", SVC + "/N", "m1", svc({"selector": {"a": "c"}, "ports": [{"name": "noport"}]})),
  ("GET", SVC + "/N", "", None)],
 "widget applied": [
  ("apply", W + "/N", "m1", w({"text": "a", "map": {"a": "1"}, "set": ["a", "b"], "items": [{"name": "x", "value": "1"}], "ports": [{"port": 80}], "any": {"p": {"q": 1}, "l": [1]}, "plainList": ["a"]})),
  ("apply", W + "/N", "m1", w({"text": "a", "map": {"a": "1"}, "set": ["a", "b"], "items": [{"name": "x", "value": "1"}], "ports": [{"port": 80}], "any": {"p": {"q": 1}, "l": [1]}, "plainList": ["a"]})),
  ("apply", W + "/N", "m2", w({"map": {"b": "2"}, "set": ["c", "a"], "items": [{"name": "y"}, {"name": "x", "tags": ["t"]}], "ports": [{"port": 80, "protocol": "UDP"}], "any": {"p": {"r": 2}}})),
  ("apply", W + "/N", "m2", w({"text": "b", "plainList": ["b"], "any": {"l": [2]}, "atomicMap": {"z": "1"}})),
  ("force", W + "/N", "m2", w({"text": "b", "plainList": ["b"], "any": {"l": [2]}, "atomicMap": {"z": "1"}})),
  ("apply", W + "/N", "m1", w({"group": {"a": "1"}})),
  ("apply", W + "/N", "m1", w({"text": None, "maybe": None})),
  ("apply", W + "/N", "m1", w({"map": {}})),
  ("apply", W + "/N", "m1", w({"map": {"q": "1"}})),
  ("apply", W + "/N", "m1", w()),
  ("apply", W + "/N", "m2", w()),
  ("GET", W + "/N", "", None)],
 "widget by hand": [
  ("POST", W, "hand", w({"text": "a", "items": [{"name": "x"}], "group": {}, "nested": {"a": {"b": "c"}}}, metadata={"name": "N"})),
  ("merge", W + "/N", "other", {"spec": {"text": "b", "nested": {"a": {"b": None, "d": "e"}}}}),
  ("json", W + "/N", "hand", [{"op": "add", "path": "/spec/items/-", "value": {"name": "y"}}, {"op": "test", "path": "/spec/text", "value": "b"}]),
  ("apply", W + "/N/status", "ctl", w(status={"text": "s", "conditions": [{"type": "Ready", "status": "True"}]})),
  ("merge", W + "/N/status", "hand", {"spec": {"text": "zz"}, "status": {"text": "t"}}),
  ("apply", W + "/N/status", "ctl", w({"text": "zz"}, status={"text": "s"})),
  ("force", W + "/N/status", "ctl", w({"text": "zz"}, status={"text": "s"}, metadata={"labels": {"a": "b"}})),
  ("apply", W + "/N", "ctl", w({"text": "b"}, status={"text": "s"})),
  ("apply", W + "/N", "m1", w({"text": 1})),
  ("apply", W + "/N", "m1", w({"items": [{"value": "nameless"}]})),
  ("apply", W + "/N", "m1", w({"set": ["a", "a"]})),
  ("apply", W + "/N", "m1", w({"bogus": 1})),
  ("GET", W + "/N", "", None)],
 "namespace": [
  ("POST", NS, "hand", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "N"}}),
  ("apply", NS + "/N", "m1", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"labels": {"a": "b"}}}),
  ("apply", NS + "/N", "m1", {"apiVersion": "v1", "kind": "Namespace"})],
 "bad requests": [
  ("apply", CM + "/N", "", cm(data={"a": "1"})),
  ("apply", CM + "/N", "m1", {"apiVersion": "v1", "kind": "Secret"}),
  ("apply", CM + "/N", "m1", {"apiVersion": "apps/v1", "kind": "ConfigMap"}),
  ("apply", CM + "/N", "m1", {"kind": "ConfigMap"}),
  ("apply", CM + "/N", "m1", cm(metadata={"name": "other"})),
  ("apply", CM + "/N", "m1", cm(metadata={"namespace": "other"})),
  ("apply", CM + "/N", "m" * 200, cm()),
  ("apply", CM + "/N", "m1", cm(data={"a": "1"})),
  ("json", CM + "/N", "m1", [{"op": "add", "path": "/data", "value": {}}]),
  ("POST", CM, "m1", cm(metadata={"name": "N"}, data={"a": "1"})),
  ("json", CM + "/N", "m1", [{"op": "test", "path": "/data/a", "value": "2"}]),
  ("json", CM + "/N", "m1", [{"op": "dance", "path": "/data/a"}]),
  ("json", CM + "/N", "m1", {"op": "add"}),
  ("json", CM + "/N", "m1", [1]),
  ("merge", CM + "/N", "m1", [1]),
  ("merge", CM + "/N", "m1", "x"),
  ("apply", CM + "/N", "m1", [1])],
}

def clean(v, key=""):
    if isinstance(v, dict):
        out = {k: clean(x, k) for k, x in v.items() if k not in ("uid", "resourceVersion", "creationTimestamp")}
        if "time" in out and "fieldsType" in out: out["time"] = "T"
        if "managedFields" in out and isinstance(out["managedFields"], list):
            out["managedFields"].sort(key=lambda e: (e.get("operation", ""), e.get("manager", ""), e.get("subresource", "")))
        if "causes" in out: out["causes"].sort(key=lambda c: (c.get("message", ""), c.get("field", "")))
        for k in ("clusterIP",):
            if k in out: out[k] = "IP"
        if "clusterIPs" in out: out["clusterIPs"] = ["IP"]
        return out
    if isinstance(v, list): return [clean(x) for x in v]
    return v

if __name__ == "__main__":
    ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", crd)
    time.sleep(3)
    out = [{"name": "definition", "steps": [{"method": "POST", "path": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "type": "application/json", "body": crd}]}]
    for n, (name, steps) in enumerate(scenarios.items()):
        this, rec = "%s%d" % (PREFIX, n), []
        for verb, path, manager, body in steps:
            b = json.loads(json.dumps(body).replace('"N"', '"%s"' % this))
            if verb in ("apply", "force") and isinstance(b, dict) and name != "bad requests":
                b.setdefault("metadata", {}).setdefault("name", this)
            method, p, t, b = request(verb, path.replace("/N", "/" + this), manager, b)
            code, reply = ask(method, p, t, b)
            rec.append({"method": method, "path": p, "type": t, "body": b, "code": code, "reply": clean(reply)})
        out.append({"name": name, "steps": rec})
    print("[")
    print(",\n".join('{"name":%s,"steps":[\n%s]}' % (json.dumps(s["name"]), ",\n".join(json.dumps(x, separators=(",", ":"), sort_keys=True) for x in s["steps"])) for s in out))
    print("]")
