#!/bin/sh
# A longer session with kubectl, as people have them: typed creates, tables, patches of all kinds,
# rollouts, deletions. Prints what it sees, without what differs from run to run; the same lines
# must come out on every cluster in which workloads come to life.
#
#   KUBECTL="kubectl" KUBECONFIG=... sh session.sh
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { echo "--- $*"; }
# Ages, addresses, generated names, times, revisions and widths of columns are no part of the story.
# Ages come last: a part of a uid or of a generated name may look like one.
plain() {
    sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g' \
        -e 's/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/UID/g' \
        -e 's/\b10\.[0-9]+\.[0-9]+\.[0-9]+\b/ADDRESS/g' \
        -e 's/\b(web|once|every)-[0-9a-z]{8,10}-[0-9a-z]{5}\b/\1-POD/g' \
        -e 's/\b(web|once)-[0-9a-z]{8,10}\b/\1-HASH/g' -e 's/\bonce-[0-9a-z]{5}\b/once-POD/g' \
        -e 's/(resourceVersion[^0-9]{1,6})[0-9]+/\1X/g' \
        -e 's/pod-template-hash=[0-9a-z]+/pod-template-hash=HASH/' -e 's/(CreationTimestamp:).*/\1 TIME/' \
        -e 's/:3[0-9]{4}\//:PORT\//g' \
        -e 's/\b([0-9]+(s|m|h|d))+\b/AGE/g' \
        -e 's/[[:space:]]+/ /g' -e 's/ +$//'
}
k() { $KUBECTL --namespace session "$@" 2>&1 | plain; }
# The same for a command that must fail.
refused() {
    if $KUBECTL --namespace session "$@" > refused 2>&1; then
        echo "was not refused"
        return 1
    fi
    plain < refused
}

say "what there is"
k version -o json | grep -A12 serverVersion | grep -E '"(major|minor|gitVersion)"'
k api-resources --no-headers --api-group=apps | sort
k api-resources --no-headers --api-group=batch --verbs=list -o name | sort
k get --raw /healthz && echo
k explain configmap.immutable
k explain deployment.spec.strategy --recursive

say "typed objects"
k create namespace session
k create configmap settings --from-literal=colour=green --from-literal=size=3
k create secret generic keys --from-literal=password=secret
k create serviceaccount robot
k create role reader --verb=get,list --resource=configmaps,secrets
k create rolebinding readers --role=reader --serviceaccount=session:robot --user=ann
k create quota limits --hard=count/widgets.example.com=10
k create poddisruptionbudget steady --selector=app=web --min-available=1
k create ingress front --rule='a.example/*=web:80,tls=cert' --class=none
k create service clusterip web --tcp=80:8080
k create service externalname away --external-name=a.example
k create priorityclass session-high --value=1000 --description=high
refused create configmap settings
refused create configmap 'Not A Name'

say "tables"
k get configmap,secret,serviceaccount,role,rolebinding,pdb,ingress,service
k get rolebinding,service -o wide
k get priorityclass session-high
k get namespace session --show-labels
k get configmap --no-headers -o custom-columns=NAME:.metadata.name,COLOUR:.data.colour
k get configmap settings -o yaml | grep -vE 'creationTimestamp|resourceVersion|uid'
k get secret keys -o 'go-template={{.data.password}}{{"\n"}}'
k get configmap --sort-by=.metadata.name -o name
refused get configmap nothing
refused get nonsense

say "descriptions"
k describe configmap settings
k describe secret keys
k describe role reader
k describe rolebinding readers
k describe service away

say "rights and watches"
k auth can-i create pods
(timeout 4 $KUBECTL --namespace session get configmap settings --watch --no-headers -o name || true) | plain

say "apply on the client's side"
cat > applied.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: applied, labels: {tier: front}}
data: {x: "1", y: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: applied}
spec: {clusterIP: None, selector: {app: applied}, ports: [{name: web, port: 80}, {name: admin, port: 81}]}
YAML
k apply -f applied.yaml
k apply -f applied.yaml
sed -i -e 's/x: "1", y: "1"/x: "2", z: "3"/' -e 's/, {name: admin, port: 81}//' applied.yaml
refused diff -f applied.yaml | grep -vE '^(diff|---|\+\+\+)'
k apply -f applied.yaml
k get configmap applied -o 'jsonpath={.data}{"\n"}'
k get service applied -o 'jsonpath={.spec.ports[*].name}{"\n"}'
k diff -f applied.yaml
k apply view-last-applied configmap applied
k apply --dry-run=server -f applied.yaml
k apply --server-side --field-manager=other -f applied.yaml
k get configmap applied --show-managed-fields -o 'jsonpath={.metadata.managedFields[*].manager}{"\n"}'
k apply --server-side --force-conflicts -f applied.yaml

say "what is not known"
echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"dta":{"x":"1"}}' > odd.json
refused apply -f odd.json
k apply --validate=warn -f odd.json
k apply --validate=ignore -f odd.json
refused apply --server-side -f odd.json

say "changes"
k patch configmap applied -p '{"data":{"x":"3","z":null}}'
k patch configmap applied --type=merge -p '{"data":{"w":"4"}}'
k patch configmap applied --type=json -p '[{"op":"replace","path":"/data/w","value":"5"}]'
refused patch configmap applied --type=json -p '[{"op":"test","path":"/data/w","value":"6"}]'
KUBE_EDITOR="sed -i s/w:.*/w:\ edited/" k edit configmap applied
KUBE_EDITOR="true" k edit configmap applied
k get configmap applied -o 'jsonpath={.data}{"\n"}'
k label configmap applied tier=back --overwrite
refused label configmap applied tier=front
k label configmap applied tier-
k annotate configmap applied note=hello
k annotate configmap applied note-
$KUBECTL --namespace session get configmap applied -o json | sed 's/"edited"/"replaced"/' > replaced.json
k replace -f replaced.json
$KUBECTL --namespace session create configmap settings --from-literal=colour=blue --dry-run=client -o yaml > settings.yaml
k replace -f settings.yaml
k get configmap settings -o 'jsonpath={.data.colour}{"\n"}'

say "workloads"
k create deployment web --image=example.com/web:1 --replicas=2 --port=8080
k rollout status deployment/web --timeout=60s | tail -n 1
k get deployment web -o wide
k get replicaset -o wide | grep -v NAME | head -n 1
k wait --for=condition=Available --timeout=60s deployment/web
k wait --for=condition=Ready --timeout=60s pod --selector app=web | sort -u
k describe deployment web --show-events=false
k set image deployment/web web=example.com/web:2
k rollout status deployment/web --timeout=60s | tail -n 1
k rollout history deployment/web
k rollout history deployment/web --revision=2
k rollout undo deployment/web
k rollout status deployment/web --timeout=60s | tail -n 1
k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}{"\n"}'
k rollout restart deployment/web
k rollout status deployment/web --timeout=60s | tail -n 1
k rollout history deployment/web
k rollout pause deployment/web
refused rollout pause deployment/web
k rollout resume deployment/web
k set env deployment/web COLOUR=green
k set resources deployment/web --limits=cpu=100m
k rollout status deployment/web --timeout=60s | tail -n 1
k scale deployment web --replicas=3
refused scale deployment web --current-replicas=7 --replicas=1
k wait --for=jsonpath='{.status.readyReplicas}'=3 --timeout=60s deployment/web
k get deployment web --subresource=scale
k patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":1}}'
k autoscale deployment web --min=1 --max=3 --cpu=50%
k expose deployment web --name=exposed --port=80 --target-port=8080
k get service exposed
k create job once --image=example.com/once
k wait --for=condition=Complete --timeout=60s job/once
k get job once
k create cronjob every --image=example.com/every --schedule='0 0 1 1 *'
k get cronjob every -o wide

say "custom resources"
cat > definition.yaml <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.session.example}
spec:
  group: session.example
  scope: Namespaced
  names: {plural: ships, singular: ship, kind: Ship, shortNames: [shp], categories: [fleet]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}, scale: {specReplicasPath: .spec.masts, statusReplicasPath: .status.masts}}
      additionalPrinterColumns:
        - {name: Masts, type: integer, jsonPath: .spec.masts}
        - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
        - {name: Captain, type: string, priority: 1, jsonPath: .spec.captain}
      schema:
        openAPIV3Schema:
          description: A ship of the fleet.
          type: object
          properties:
            spec:
              description: What the ship is like.
              type: object
              x-kubernetes-validations: [{rule: "self.masts <= 5", message: no ship has that many masts}]
              properties:
                masts: {type: integer, default: 3, description: How many masts it has.}
                captain: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: self == oldSelf, message: captains stay}]}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
YAML
k apply -f definition.yaml
k wait --for=condition=Established --timeout=30s crd/ships.session.example
sleep 1
echo '{"apiVersion":"session.example/v1","kind":"Ship","metadata":{"name":"argo"},"spec":{"captain":"jason"}}' > ship.json
k apply -f ship.json
k explain ship.spec
k get ships
k get shp -o wide
k get fleet
k patch ship argo --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
k wait --for=condition=Ready --timeout=30s ship/argo
k scale ship argo --replicas=4
refused patch ship argo --type=merge -p '{"spec":{"masts":9}}'
refused patch ship argo --type=merge -p '{"spec":{"captain":"medea"}}'
refused patch ship argo -p '{"spec":{"masts":2}}'
sed -i 's/"jason"/"jason","masts":2,"oars":50/' ship.json
refused apply -f ship.json
sed -i 's/,"oars":50//' ship.json
k apply -f ship.json
k get ship argo -o 'jsonpath={.spec}{"\n"}'

say "deletions"
k create deployment kept --image=example.com/kept --replicas=1
k wait --for=jsonpath='{.status.replicas}'=1 --timeout=60s deployment/kept
k delete deployment kept --cascade=orphan
k get replicaset --selector app=kept --no-headers | sed 's/kept-[^ ]*/kept-HASH/'
k delete replicaset --selector app=kept --cascade=foreground | sed 's/kept-[^ ]*"/kept-HASH"/'
k delete deployment web --cascade=foreground --timeout=60s
k get pods --selector app=web
k delete job once --cascade=background
k delete configmap --selector nothing=here
k delete configmap settings applied odd
k delete configmap settings --ignore-not-found
refused delete configmap settings
k delete ship argo --wait=false
k delete crd ships.session.example
k delete priorityclass session-high
k delete namespace session --timeout=60s
refused get namespace session
