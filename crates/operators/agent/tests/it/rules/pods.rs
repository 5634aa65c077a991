//! What becomes of the wishes about pods.

use serde_json::{Value, json};

use super::{AGENT, MODEL, declared, file, object, pod, translated, try_translate};

#[test]
fn a_brought_agent_runs_its_own_image() {
    let agent = AGENT.replace(
        "SPEC",
        "{type: BYO, description: d, byo: {deployment: {image: 'me/bot:1', cmd: run, args: [x], workingDir: /w, replicas: 2, env: [{name: E, value: ''}], serviceAccountConfig: {labels: {l: v}, annotations: {role: r}}, deploymentAnnotations: {team: t}, annotations: {pod: p}}}}",
    );
    let translation = translated(&agent);
    assert_eq!(
        file(&translation, "config.json"),
        r#"{"model":null,"description":"d","instruction":""}"#
    );
    let pod = pod(&translation);
    let container = &pod["containers"][0];
    assert_eq!(
        (
            &container["image"],
            &container["command"],
            &container["workingDir"]
        ),
        (&json!("me/bot:1"), &json!(["run"]), &json!("/w"))
    );
    assert_eq!(container["env"][0], json!({"name": "E"}));
    assert_eq!(container["readinessProbe"]["periodSeconds"], 15);
    let deployment = object(&translation, "Deployment");
    assert_eq!(deployment["spec"]["replicas"], 2);
    assert_eq!(deployment["metadata"]["annotations"], json!({"team": "t"}));
    assert_eq!(
        deployment["spec"]["template"]["metadata"]["annotations"]["pod"],
        "p"
    );
    let account = object(&translation, "ServiceAccount");
    assert_eq!(account["metadata"]["annotations"], json!({"role": "r"}));
    assert_eq!(account["metadata"]["labels"]["l"], "v");
    let port = &object(&translation, "Service")["spec"]["ports"][0];
    assert_eq!(port["appProtocol"], "kgateway.dev/a2a");
}

#[test]
fn labels_cannot_take_the_selector_and_private_annotations_stay_private() {
    let agent = AGENT
        .replace("metadata: {name: a, namespace: n}", "metadata: {name: a, namespace: n, annotations: {mine: x, kubectl.kubernetes.io/last-applied-configuration: y}}")
        .replace("SPEC", "{type: Declarative, declarative: {systemMessage: hi, modelConfig: m, deployment: {labels: {app: mine, kagent: mine, team: t}}}}");
    let translation = translated(&(MODEL.replace("SPEC", "{provider: OpenAI, model: g}") + &agent));
    let deployment = object(&translation, "Deployment");
    assert_eq!(deployment["metadata"]["annotations"], json!({"mine": "x"}));
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    assert_eq!(
        (&labels["app"], &labels["kagent"], &labels["team"]),
        (&json!("kagent"), &json!("a"), &json!("t"))
    );
}

const PLAIN: &str = "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k}";

#[test]
fn every_wish_about_pods_is_carried_out() {
    let translation = declared(
        PLAIN,
        "deployment: {replicas: 0, imagePullPolicy: Always, imagePullSecrets: [{name: pull}], \
         nodeSelector: {disk: ssd}, tolerations: [{key: t, operator: Exists}], \
         affinity: {nodeAffinity: {}}, envFrom: [{secretRef: {name: more}}], \
         env: [{name: MINE, value: x}, {name: LIMIT, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}], \
         volumes: [{name: data, emptyDir: {sizeLimit: 1024Mi}}], volumeMounts: [{name: data, mountPath: /data}], \
         resources: {limits: {cpu: 1500m, memory: 2048Mi}}, securityContext: {runAsUser: 0}, \
         podSecurityContext: {fsGroup: 7}, labels: {team: t}, annotations: {pod: p}, deploymentAnnotations: {dep: d}}",
    );
    let deployment = object(&translation, "Deployment");
    assert_eq!(deployment["spec"]["replicas"], 0);
    assert_eq!(deployment["metadata"]["annotations"], json!({"dep": "d"}));
    assert_eq!(deployment["metadata"]["labels"]["team"], "t");
    let pod = pod(&translation);
    assert_eq!(pod["imagePullSecrets"], json!([{"name": "pull"}]));
    assert_eq!(pod["nodeSelector"], json!({"disk": "ssd"}));
    assert_eq!(
        pod["tolerations"],
        json!([{"key": "t", "operator": "Exists"}])
    );
    assert_eq!(pod["affinity"], json!({"nodeAffinity": {}}));
    assert_eq!(pod["securityContext"], json!({"fsGroup": 7}));
    assert_eq!(
        pod["volumes"][1],
        json!({"name": "data", "emptyDir": {"sizeLimit": "1Gi"}})
    );
    let container = &pod["containers"][0];
    assert_eq!(container["imagePullPolicy"], "Always");
    assert_eq!(
        container["envFrom"],
        json!([{"secretRef": {"name": "more"}}])
    );
    assert_eq!(
        container["resources"],
        json!({"limits": {"cpu": "1500m", "memory": "2Gi"}})
    );
    assert_eq!(container["securityContext"], json!({"runAsUser": 0}));
    assert_eq!(
        container["env"][1]["valueFrom"]["resourceFieldRef"],
        json!({"resource": "limits.cpu", "divisor": "0"})
    );
    let names: Vec<_> = variables_of(container);
    let wanted = [
        "MINE",
        "LIMIT",
        "OPENAI_API_KEY",
        "KAGENT_NAMESPACE",
        "KAGENT_NAME",
        "KAGENT_URL",
    ];
    assert_eq!(names, wanted);
    assert_eq!(
        container["volumeMounts"][1],
        json!({"name": "data", "mountPath": "/data"})
    );
    assert_eq!(
        object(&translation, "Service")["spec"]["ports"][0].get("appProtocol"),
        None
    );
}

fn variables_of(container: &Value) -> Vec<String> {
    let env = container["env"].as_array().expect("env").iter();
    env.map(|each| each["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// The agent's own word, else the operator's, else an account of the agent's name.
#[test]
fn the_service_account_is_the_agent_s_the_operator_s_or_its_own() {
    let account = |deployment: &str, default: &str| {
        let golden = format!(
            "targetObject: a\nnamespace: 'n'\ndefaultServiceAccountName: '{default}'\nobjects:\n- {{apiVersion: kagent.dev/v1alpha2, kind: ModelConfig, metadata: {{name: m, namespace: n}}, spec: {PLAIN}}}\n- {{apiVersion: kagent.dev/v1alpha2, kind: Agent, metadata: {{name: a, namespace: n}}, spec: {{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m, deployment: {deployment}}}}}}}\n"
        );
        let translation = translated(&golden);
        let made = translation.manifest();
        let made = made.iter().any(|object| object["kind"] == "ServiceAccount");
        let name = pod(&translation)["serviceAccountName"].clone();
        (name.as_str().expect("a name").to_owned(), made)
    };
    assert_eq!(account("{}", ""), ("a".to_owned(), true));
    assert_eq!(account("{}", "all"), ("all".to_owned(), false));
    let named = "{serviceAccountName: mine}";
    assert_eq!(account(named, "all"), ("mine".to_owned(), false));
    assert_eq!(
        account("{serviceAccountName: a}", "all"),
        ("a".to_owned(), true)
    );
}

#[test]
fn code_of_others_needs_privileges_unless_they_are_forbidden() {
    let context = |declarative: &str| {
        let translation = declared(PLAIN, declarative);
        let pod = pod(&translation);
        let image = pod["containers"][0]["image"]
            .as_str()
            .expect("an image")
            .to_owned();
        (
            pod["containers"][0]["securityContext"].clone(),
            image.ends_with("-full"),
        )
    };
    assert_eq!(context("executeCodeBlocks: false"), (Value::Null, false));
    let privileged = json!({"privileged": true});
    assert_eq!(context("executeCodeBlocks: true"), (privileged, true));
    let with = |given: &str| {
        context(&format!(
            "executeCodeBlocks: true, deployment: {{securityContext: {given}}}"
        ))
    };
    assert_eq!(
        with("{runAsUser: 1}"),
        (json!({"privileged": true, "runAsUser": 1}), true)
    );
    assert_eq!(
        with("{allowPrivilegeEscalation: false}"),
        (json!({"allowPrivilegeEscalation": false}), true)
    );
    assert_eq!(
        with("{privileged: false}"),
        (json!({"privileged": true}), true)
    );
    assert_eq!(with("{}"), (json!({"privileged": true}), true));
}

/// A brought agent is put into a sandbox when it asks for one; it brings its own image for that.
#[test]
fn a_brought_agent_has_settings_of_a_sandbox_if_it_asks() {
    let agent = |sandbox: &str| {
        let spec = format!("{{type: BYO, {sandbox} byo: {{deployment: {{image: i}}}}}}");
        translated(&AGENT.replace("SPEC", &spec))
    };
    let plain = agent("");
    assert!(plain.files().all(|(name, _)| name != "srt-settings.json"));
    let boxed = agent("sandbox: {network: {allowedDomains: [b.c, a.b]}},");
    assert_eq!(
        file(&boxed, "srt-settings.json"),
        r#"{"filesystem":{"allowWrite":[".","/tmp"],"denyRead":[],"denyWrite":[]},"network":{"allowedDomains":["b.c","a.b"],"deniedDomains":[]}}"#
    );
    let pod = pod(&boxed);
    assert_eq!(pod["containers"][0]["image"], "i");
    assert_eq!(pod["containers"][0].get("securityContext"), None);
    assert_eq!(
        variables_of(&pod["containers"][0]).last().expect("some"),
        "KAGENT_SRT_SETTINGS_PATH"
    );
}

#[test]
fn further_containers_have_names_of_their_own() {
    let with = |containers: &str| {
        let agent = AGENT.replace(
            "SPEC",
            &format!(
                "{{type: BYO, byo: {{deployment: {{image: i, extraContainers: {containers}}}}}}}"
            ),
        );
        try_translate(&agent).map(|translation| pod(&translation)["containers"].clone())
    };
    let two = with("[{name: b, image: x}, {name: c, image: y, resources: {limits: {cpu: 2}}}]");
    assert_eq!(
        two.expect("containers").as_array().expect("a list")[1..],
        [
            json!({"name": "b", "image": "x", "resources": {}}),
            json!({"name": "c", "image": "y", "resources": {"limits": {"cpu": "2"}}})
        ]
    );
    for taken in ["[{name: kagent}]", "[{name: b}, {name: b}]"] {
        assert_eq!(with(taken).expect_err(taken).reason(), "InvalidSpec");
    }
}

/// What kagent 0.10 has not: absent unless it is asked for, so that the rest stays equal.
#[test]
fn pods_are_spread_probed_replaced_and_kept_as_their_author_says() {
    let plain = declared(PLAIN, "deployment: {}");
    let plain_pod = pod(&plain);
    assert_eq!(plain_pod.get("topologySpreadConstraints"), None);
    assert_eq!(plain_pod["containers"][0].get("livenessProbe"), None);
    assert!(
        plain
            .names()
            .iter()
            .all(|name| !name.starts_with("PodDisruptionBudget"))
    );

    let asked = declared(
        PLAIN,
        "deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}], \
         strategy: {type: Recreate}, livenessProbe: {periodSeconds: 9}, startupProbe: {failureThreshold: 30}, \
         podDisruptionBudget: {maxUnavailable: 1}}",
    );
    let own = json!({"matchLabels": {"app": "kagent", "kagent": "a"}});
    let deployment = object(&asked, "Deployment");
    assert_eq!(deployment["spec"]["strategy"], json!({"type": "Recreate"}));
    let pod = pod(&asked);
    assert_eq!(pod["topologySpreadConstraints"][0]["labelSelector"], own);
    let card = json!({"path": "/.well-known/agent-card.json", "port": "http"});
    let container = &pod["containers"][0];
    assert_eq!(
        container["livenessProbe"],
        json!({"httpGet": card, "periodSeconds": 9})
    );
    assert_eq!(
        container["startupProbe"],
        json!({"httpGet": card, "failureThreshold": 30})
    );
    let budget = object(&asked, "PodDisruptionBudget");
    assert_eq!(
        budget["spec"],
        json!({"maxUnavailable": 1, "selector": own})
    );
}
