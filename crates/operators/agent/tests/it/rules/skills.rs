//! What becomes of skills.

use serde_json::json;

use super::{AGENT, MODEL, object, pod, translated};

#[test]
fn the_go_runtime_has_its_own_image_and_probe() {
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, skills: {gitRefs: [{url: 'ssh://git@h:2222/o/r.git', ref: '0123456789012345678901234567890123456789', path: a/b/}, {url: 'https://h/o/other'}], s3Refs: [{uri: 's3://b/k/ops.zip', region: eu}], gitAuthSecretRef: {name: git}, imagePullSecrets: [{name: pull}], insecureSkipVerify: true, initContainer: {env: [{name: A, value: b}]}}, declarative: {runtime: go, systemMessage: hi, modelConfig: m, deployment: {imageRegistry: mine.io, securityContext: {allowPrivilegeEscalation: false}}}}",
    );
    let translation = translated(&(MODEL.replace("SPEC", "{provider: OpenAI, model: g}") + &agent));
    let pod = pod(&translation);
    let container = &pod["containers"][0];
    assert_eq!(
        container["image"],
        "mine.io/kagent-dev/kagent/golang-adk:dev-full"
    );
    let probe = &container["readinessProbe"];
    let times = [
        &probe["initialDelaySeconds"],
        &probe["timeoutSeconds"],
        &probe["periodSeconds"],
    ];
    assert_eq!(times, [1, 5, 1]);
    assert_eq!(
        container["securityContext"],
        json!({"allowPrivilegeEscalation": false})
    );
    let fetch = object(&translation, "ConfigMap")["data"]["config.json"].clone();
    assert_eq!(
        fetch.as_str().expect("text"),
        r#"{"authMountPath":"/git-auth","gitRefs":[{"url":"ssh://git@h:2222/o/r.git","ref":"0123456789012345678901234567890123456789","dest":"/skills/b","full":true,"subPath":"a/b"},{"url":"https://h/o/other","ref":"main","dest":"/skills/other"}],"s3Refs":[{"uri":"s3://b/k/ops.zip","dest":"/skills/ops","region":"eu"}],"insecureOci":true,"sshHosts":[{"host":"h","port":"2222"}],"imagePullSecrets":["pull"]}"#
    );
    let names: Vec<_> = pod["volumes"]
        .as_array()
        .expect("volumes")
        .iter()
        .map(|volume| volume["name"].clone())
        .collect();
    let wanted = [
        "config",
        "kagent-skills",
        "skills-init-config",
        "git-auth",
        "pull-secret-pull",
        "kagent-token",
    ];
    assert_eq!(names, wanted);
    assert_eq!(
        pod["initContainers"][0]["env"],
        json!([{"name": "A", "value": "b"}])
    );
    assert_eq!(
        pod["initContainers"][0]["volumeMounts"][3]["mountPath"],
        "/docker-secrets/pull"
    );
}

const PLAIN: &str = "{provider: OpenAI, model: g}";

fn with_skills(skills: &str) -> evenkeel_agent_operator::translate::Translation {
    let spec = format!(
        "{{type: Declarative, skills: {skills}, declarative: {{systemMessage: hi, modelConfig: m}}}}"
    );
    translated(&(MODEL.replace("SPEC", PLAIN) + &AGENT.replace("SPEC", &spec)))
}

/// Repositories first, then images, then buckets, however they are written down.
#[test]
fn skills_of_all_kinds_are_fetched_in_one_order() {
    let translation = with_skills(
        "{s3Refs: [{uri: 's3://b/k/three'}], refs: ['ghcr.io/o/two:v1'], gitRefs: [{url: 'https://h/o/one.git', ref: v2}]}",
    );
    let config = object(&translation, "ConfigMap")["data"]["config.json"].clone();
    assert_eq!(
        config.as_str().expect("text"),
        r#"{"gitRefs":[{"url":"https://h/o/one.git","ref":"v2","dest":"/skills/one"}],"ociRefs":[{"image":"ghcr.io/o/two:v1","dest":"/skills/two"}],"s3Refs":[{"uri":"s3://b/k/three","dest":"/skills/three"}]}"#
    );
    let pod = pod(&translation);
    let init = &pod["initContainers"][0];
    assert_eq!(init["name"], "skills-init");
    assert_eq!(init["image"], "ghcr.io/kagent-dev/kagent/skills-init:dev");
    assert_eq!(
        init["resources"],
        json!({"requests": {"cpu": "100m", "memory": "384Mi"}, "limits": {"cpu": "2", "memory": "1Gi"}})
    );
    assert_eq!(init.get("securityContext"), None);
    assert_eq!(
        init["volumeMounts"],
        json!([
            {"name": "kagent-skills", "mountPath": "/skills"},
            {"name": "skills-init-config", "mountPath": "/etc/kagent/skills-init", "readOnly": true},
        ])
    );
    let agent = &pod["containers"][0];
    assert_eq!(agent["securityContext"], json!({"privileged": true}));
    assert_eq!(agent["image"], "ghcr.io/kagent-dev/kagent/app:dev-full");
    let map = object(&translation, "ConfigMap");
    assert_eq!(map["metadata"]["name"], "a-skills-init");
    assert_eq!(map["metadata"].get("labels"), None);
}

/// Nothing is fetched, but the agent is one that could run code of others.
#[test]
fn a_block_of_skills_without_any_only_makes_the_image_larger() {
    let translation = with_skills("{}");
    let pod = pod(&translation);
    assert_eq!(pod.get("initContainers"), None);
    assert_eq!(pod["containers"][0].get("securityContext"), None);
    assert_eq!(
        pod["containers"][0]["image"],
        "ghcr.io/kagent-dev/kagent/app:dev-full"
    );
    assert!(
        translation
            .files()
            .any(|(name, _)| name == "srt-settings.json")
    );
}

#[test]
fn a_brought_agent_has_skills_too() {
    let spec = "{type: BYO, skills: {refs: ['r/s:1'], initContainer: {resources: {}}}, byo: {deployment: {image: i, securityContext: {runAsUser: 5}}}}";
    let pod = pod(&translated(&AGENT.replace("SPEC", spec)));
    assert_eq!(pod["containers"][0]["image"], "i");
    let both = json!({"privileged": true, "runAsUser": 5});
    assert_eq!(pod["containers"][0]["securityContext"], both);
    let init = &pod["initContainers"][0];
    assert_eq!(init["securityContext"], json!({"runAsUser": 5}));
    assert_eq!(init["resources"], json!({}));
}
