#!/bin/sh
# What people do first with kubectl. Prints what it sees, without what differs from run to run;
# the same lines must come out on every cluster.
#
#   KUBECTL="kubectl" KUBECONFIG=... sh smoke.sh
set -eu

say() { echo "--- $*"; }
k() { $KUBECTL --namespace smoke "$@" 2>&1; }
# Runs a command that must fail.
refused() { if "$@"; then echo "was not refused"; return 1; fi; }

say version
k version -o json | grep gitVersion

say namespace
echo '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"smoke"}}' | k create --validate=false -f -
k get namespace smoke -o name

say create
settings='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"colour":"green"}}'
echo "$settings" | k create --validate=false -f -
k get configmap settings -o 'jsonpath={.data.colour}{"\n"}'
echo "$settings" | refused k create --validate=false -f -

say apply
manifest='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"x":"1"}}'
echo "$manifest" | k apply --server-side --validate=false -f -
echo "$manifest" | k apply --server-side --validate=false --field-manager=other -f -
echo "$manifest" | sed 's/"1"/"2"/' | refused k apply --server-side --validate=false --field-manager=third -f - | head -n 1
echo "$manifest" | sed 's/"1"/"2"/' | k apply --server-side --validate=false --field-manager=third --force-conflicts -f -
k get configmap applied -o 'jsonpath={.data.x}{"\n"}'
k get configmap applied --show-managed-fields -o 'jsonpath={.metadata.managedFields[*].manager}{"\n"}'

say patch
k patch configmap applied --type=merge -p '{"data":{"y":"3"}}'
k patch configmap applied --type=json -p '[{"op":"remove","path":"/data/y"}]'
k get configmap applied -o 'jsonpath={.data}{"\n"}'

say label and annotate
k label configmap applied tier=front --overwrite
k annotate configmap applied note=hello
k get configmap --selector tier=front -o name

say deployment
k apply --server-side --validate=false -f - <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web}]}
YAML
k scale deployment web --replicas=2
k get deployment web -o 'jsonpath={.spec.replicas} {.metadata.generation}{"\n"}'
k get deployment,configmap -o name

say custom resources
k apply --server-side --validate=false -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: smokes.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: smokes, singular: smoke, kind: Smoke, shortNames: [smk]}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]
YAML
k wait --for=condition=Established --timeout=30s crd/smokes.example.org
echo '{"apiVersion":"example.org/v1","kind":"Smoke","metadata":{"name":"one"},"spec":{"size":3}}' | k apply --server-side --validate=false -f -
k get smk -o name
k api-resources --api-group=example.org -o name

say delete
k delete configmap settings
refused k get configmap settings
k delete configmap --selector tier=front
k delete deployment web
k delete crd smokes.example.org
k delete namespace smoke
refused k get namespace smoke
