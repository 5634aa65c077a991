//! Rules of the translation that no golden file shows.

use evenkeel_agent_operator::offline::{AgentName, Documents, OfflineError};
use evenkeel_agent_operator::translate::{TranslateError, Translation};
use serde_json::{Value, json};

const MODEL: &str = "\
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: m, namespace: n}
spec: SPEC
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: n}
stringData: {k: v}
---
";

const AGENT: &str = "\
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: a, namespace: n}
spec: SPEC
---
";

fn try_translate(documents: &str) -> Result<Translation, TranslateError> {
    let mut read = Documents::new(None);
    read.read("documents", documents).expect("documents");
    let name = AgentName {
        namespace: "n".to_owned(),
        name: "a".to_owned(),
    };
    read.translate(&name).map_err(|error| match error {
        OfflineError::Untranslatable { source, .. } => *source,
        other => panic!("{other}"),
    })
}

fn translated(documents: &str) -> Translation {
    try_translate(documents).unwrap_or_else(|error| panic!("{error}"))
}

fn file<'a>(translation: &'a Translation, name: &str) -> &'a str {
    let found = translation.files().find(|(file, _)| *file == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

/// The first object of a kind, as it is shown.
fn object(translation: &Translation, kind: &str) -> Value {
    let found = translation
        .manifest()
        .into_iter()
        .find(|object| object["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

fn pod(translation: &Translation) -> Value {
    object(translation, "Deployment")["spec"]["template"]["spec"].clone()
}

/// Variables before those that every agent has, as `NAME=value` or `NAME<-secret/key`.
fn variables(translation: &Translation) -> Vec<String> {
    let pod = pod(translation);
    let env = pod["containers"][0]["env"].as_array().expect("env").iter();
    env.take_while(|variable| variable["name"] != "KAGENT_NAMESPACE")
        .map(|variable| {
            let name = variable["name"].as_str().expect("a name");
            match variable["value"].as_str() {
                Some(value) => format!("{name}={value}"),
                None => {
                    let from = &variable["valueFrom"]["secretKeyRef"];
                    let text = |field: &str| from[field].as_str().unwrap_or("").to_owned();
                    format!("{name}<-{}/{}", text("name"), text("key"))
                }
            }
        })
        .collect()
}

fn simple_agent() -> String {
    AGENT.replace(
        "SPEC",
        "{type: Declarative, declarative: {systemMessage: hi, modelConfig: m}}",
    )
}

fn with_model(spec: &str) -> Translation {
    translated(&(MODEL.replace("SPEC", spec) + &simple_agent()))
}

#[track_caller]
fn model_becomes(spec: &str, config: &str, env: &[&str]) {
    let translation = with_model(spec);
    let text = file(&translation, "config.json");
    let wanted = format!(
        "{{\"model\":{config},\"description\":\"\",\"instruction\":\"hi\",\"stream\":false}}"
    );
    assert_eq!(text, wanted);
    assert_eq!(variables(&translation), env);
}

#[test]
fn every_provider_has_its_configuration_and_variables() {
    model_becomes(
        "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k, openAI: {organization: o, maxCompletionTokens: 5, n: 2, seed: 0, timeout: 9, frequencyPenalty: '0.5', presencePenalty: '1'}}",
        r#"{"type":"openai","model":"g","base_url":"","frequency_penalty":0.5,"max_completion_tokens":5,"n":2,"presence_penalty":1,"seed":0,"timeout":9}"#,
        &["OPENAI_API_KEY<-keys/k", "OPENAI_ORGANIZATION=o"],
    );
    model_becomes(
        "{provider: Anthropic, model: c, apiKeyPassthrough: true, anthropic: {baseUrl: 'https://a?x=1&y'}}",
        r#"{"type":"anthropic","model":"c","api_key_passthrough":true,"base_url":"https://a?x=1\u0026y"}"#,
        &[],
    );
    model_becomes(
        "{provider: AzureOpenAI, model: ignored, apiKeySecret: keys, apiKeySecretKey: k, azureOpenAI: {azureEndpoint: e, apiVersion: v, azureDeployment: d, azureAdToken: t, maxTokens: 3}}",
        r#"{"type":"azure_openai","model":"d","max_tokens":3}"#,
        &[
            "AZURE_OPENAI_API_KEY<-keys/k",
            "AZURE_AD_TOKEN=t",
            "OPENAI_API_VERSION=v",
            "AZURE_OPENAI_ENDPOINT=e",
        ],
    );
    model_becomes(
        "{provider: Ollama, model: l, ollama: {host: 'h:1'}}",
        r#"{"type":"ollama","model":"l"}"#,
        &["OLLAMA_API_BASE=http://h:1"],
    );
    model_becomes(
        "{provider: Gemini, model: g}",
        r#"{"type":"gemini","model":"g"}"#,
        &["GOOGLE_API_KEY<-/"],
    );
    model_becomes(
        "{provider: GeminiVertexAI, model: g, apiKeySecret: keys, apiKeySecretKey: k, geminiVertexAI: {projectID: p, location: l}}",
        r#"{"type":"gemini_vertex_ai","model":"g"}"#,
        &[
            "GOOGLE_CLOUD_PROJECT=p",
            "GOOGLE_CLOUD_LOCATION=l",
            "GOOGLE_GENAI_USE_VERTEXAI=true",
            "GOOGLE_APPLICATION_CREDENTIALS=/creds/k",
        ],
    );
    model_becomes(
        "{provider: AnthropicVertexAI, model: g, anthropicVertexAI: {projectID: p, location: l}}",
        r#"{"type":"gemini_anthropic","model":"g"}"#,
        &["GOOGLE_CLOUD_PROJECT=p", "GOOGLE_CLOUD_LOCATION=l"],
    );
    model_becomes(
        "{provider: Bedrock, model: b, bedrock: {region: r, additionalModelRequestFields: {z: 5, a: {n: 16000}}, promptCaching: true, cacheTTL: 5m}}",
        r#"{"type":"bedrock","model":"b","region":"r","additional_model_request_fields":{"a":{"n":16000},"z":5},"prompt_caching":true,"cache_ttl":"5m"}"#,
        &["AWS_REGION=r"],
    );
    model_becomes(
        "{provider: SAPAICore, model: s, apiKeySecret: keys, sapAICore: {baseUrl: b, resourceGroup: g, authUrl: u}}",
        r#"{"type":"sap_ai_core","model":"s","base_url":"b","resource_group":"g","auth_url":"u"}"#,
        &[
            "SAP_AI_CORE_CLIENT_ID<-keys/client_id",
            "SAP_AI_CORE_CLIENT_SECRET<-keys/client_secret",
        ],
    );
    model_becomes(
        "{provider: Foundry, model: f, apiKeySecret: keys, apiKeySecretKey: k, foundry: {endpoint: e, deployment: d, apiVersion: v}}",
        r#"{"type":"foundry","model":"f","endpoint":"e","deployment":"d","api_version":"v"}"#,
        &[
            "FOUNDRY_API_KEY<-keys/k",
            "FOUNDRY_ENDPOINT=e",
            "FOUNDRY_DEPLOYMENT=d",
            "FOUNDRY_API_VERSION=v",
        ],
    );
}

#[test]
fn bedrock_prefers_a_bearer_token() {
    let spec = "{provider: Bedrock, model: b, apiKeySecret: aws, bedrock: {region: r}}";
    let with = |keys: &str| {
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: aws, namespace: n}}\nstringData: {keys}\n---\n"
        );
        let documents = MODEL.replace("SPEC", spec) + &secret + &simple_agent();
        variables(&translated(&documents))[1..].to_vec()
    };
    assert_eq!(
        with("{AWS_BEARER_TOKEN_BEDROCK: t, AWS_ACCESS_KEY_ID: a}"),
        ["AWS_BEARER_TOKEN_BEDROCK<-aws/AWS_BEARER_TOKEN_BEDROCK"]
    );
    assert_eq!(
        with("{AWS_ACCESS_KEY_ID: a, AWS_SECRET_ACCESS_KEY: b, AWS_SESSION_TOKEN: c}"),
        [
            "AWS_ACCESS_KEY_ID<-aws/AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY<-aws/AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN<-aws/AWS_SESSION_TOKEN"
        ]
    );
}

#[test]
fn authorities_are_mounted_and_token_exchange_reads_a_file() {
    let translation = with_model(
        "{provider: OpenAI, model: g, tls: {caCertSecretRef: corp, caCertSecretKey: ca.crt, disableSystemCAs: true}}",
    );
    let config = file(&translation, "config.json");
    let fields = r#""tls_insecure_skip_verify":false,"tls_ca_cert_path":"/etc/ssl/certs/custom/corp/ca.crt","tls_disable_system_cas":true,"base_url":"""#;
    assert!(config.contains(fields), "{config}");
    let pod = pod(&translation);
    let volume =
        json!({"name": "tls-ca-corp", "secret": {"secretName": "corp", "defaultMode": 292}});
    assert_eq!(pod["volumes"][1], volume);
    let mount =
        json!({"name": "tls-ca-corp", "mountPath": "/etc/ssl/certs/custom/corp", "readOnly": true});
    assert_eq!(pod["containers"][0]["volumeMounts"][1], mount);

    let translation = with_model(
        "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k, openAI: {tokenExchange: {type: GDCHServiceAccount, gdchServiceAccount: {audience: aud}}}}",
    );
    let exchange = r#""token_exchange":{"type":"GDCHServiceAccount","gdch_service_account":{"service_account_path":"/gdch-creds/k","audience":"aud"}}"#;
    assert!(file(&translation, "config.json").contains(exchange));
    assert!(variables(&translation).is_empty());
}

#[test]
fn memory_compaction_and_sharing_follow_their_order() {
    let models = MODEL.replace("SPEC", "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k}")
        + "\
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: v, namespace: n}
spec: {provider: GeminiVertexAI, model: e, apiKeySecret: google, apiKeySecretKey: c, geminiVertexAI: {projectID: p, location: l}}
---
";
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, sandbox: {network: {allowedDomains: [a.b]}}, declarative: {systemMessage: hi, modelConfig: m, stream: true, shareTools: true, executeCodeBlocks: false, memory: {modelConfig: v, ttlDays: 7}, context: {compaction: {compactionInterval: 3, overlapSize: 0, tokenThreshold: 9, summarizer: {modelConfig: m, promptTemplate: sum}}}}}",
    );
    let translation = translated(&(models + &agent));
    let wanted = r#"{"model":{"type":"openai","model":"g","base_url":""},"description":"","instruction":"hi","execute_code":false,"stream":true,"memory":{"ttl_days":7,"embedding":{"provider":"gemini_vertex_ai","model":"e"}},"network":{"allowed_domains":["a.b"]},"context_config":{"compaction":{"compaction_interval":3,"overlap_size":0,"summarizer_model":{"type":"openai","model":"g","base_url":""},"prompt_template":"sum","token_threshold":9}},"share_tools":true}"#;
    assert_eq!(file(&translation, "config.json"), wanted);
    let env = variables(&translation);
    assert_eq!(env[0], "OPENAI_API_KEY<-keys/k");
    assert_eq!(env[4], "GOOGLE_APPLICATION_CREDENTIALS=/creds/c");
    assert_eq!(pod(&translation)["volumes"][1]["name"], "google-creds");
}

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

#[test]
fn cards_show_who_provides_an_agent() {
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, description: '<b>', version: v1, iconUrl: 'http://i', documentationUrl: 'http://d', provider: {organization: o, url: 'http://p'}, declarative: {systemMessage: hi, modelConfig: m, a2aConfig: {skills: [{id: s, name: S, tags: [t], examples: [e], inputModes: [i]}]}}}",
    );
    let translation = translated(&(MODEL.replace("SPEC", "{provider: OpenAI, model: g}") + &agent));
    let card = file(&translation, "agent-card.json");
    let start = "{\n  \"defaultInputModes\": [\n    \"text\"\n  ],\n  \"defaultOutputModes\": [\n    \"text\"\n  ],\n  \"description\": \"\\u003cb\\u003e\",\n  \"documentationUrl\": \"http://d\",\n  \"iconUrl\": \"http://i\",\n  \"name\": \"a\",\n  \"provider\": {\n    \"organization\": \"o\",\n    \"url\": \"http://p\"\n  },\n  \"version\": \"v1\",\n  \"skills\": [\n    {\n      \"description\": \"\",\n      \"examples\": [\n        \"e\"\n      ],\n      \"id\": \"s\",\n      \"inputModes\": [\n        \"i\"\n      ],\n      \"name\": \"S\",\n      \"tags\": [\n        \"t\"\n      ]\n    }\n  ],\n  \"capabilities\"";
    assert!(card.starts_with(start), "{card}");
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

#[test]
fn agents_in_a_circle_or_too_deep_are_refused() {
    let using = |name: &str, other: &str| {
        AGENT.replace("name: a,", &format!("name: {name},")).replace(
            "SPEC",
            &format!("{{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m, tools: [{{type: Agent, agent: {{name: {other}}}, isolateSessions: true}}]}}}}"),
        )
    };
    let model = MODEL.replace("SPEC", "{provider: OpenAI, model: g}");
    let circle = model.clone() + &using("a", "b") + &using("b", "a");
    let error = try_translate(&circle).expect_err("a circle");
    assert_eq!(error.reason(), "AgentCircle");
    assert_eq!(
        error.to_string(),
        "agents use each other in a circle: Agent n/a -> Agent n/b -> Agent n/a"
    );
    assert_eq!(
        try_translate(&(model.clone() + &using("a", "a")))
            .expect_err("itself")
            .reason(),
        "AgentCircle"
    );
    let chain = |length: usize| {
        let mut documents = model.clone() + &using("a", "x1");
        for number in 1..length {
            documents += &using(&format!("x{number}"), &format!("x{}", number + 1));
        }
        documents + &simple_agent().replace("name: a,", &format!("name: x{length},"))
    };
    let fine = translated(&chain(10));
    let tool = r#""remote_agents":[{"name":"n__NS__x1","url":"http://x1.n:8080","isolate_sessions":true}]"#;
    assert!(file(&fine, "config.json").contains(tool));
    assert_eq!(
        try_translate(&chain(11)).expect_err("too deep").reason(),
        "AgentChainTooDeep"
    );
}

#[test]
fn the_default_model_works_and_missing_parts_are_named() {
    let model = MODEL
        .replace("SPEC", "{provider: OpenAI, model: g}")
        .replace("name: m,", "name: default-model-config,");
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, declarative: {systemMessage: hi}}",
    );
    translated(&(model + &agent));
    let said = |documents: &str| try_translate(documents).expect_err(documents).to_string();
    assert_eq!(said(&simple_agent()), "ModelConfig n/m does not exist");
    let model = MODEL.replace("SPEC", "{provider: OpenAI, model: g}");
    let silent = AGENT.replace("SPEC", "{type: Declarative, declarative: {modelConfig: m}}");
    assert_eq!(
        said(&(model.clone() + &silent)),
        "systemMessage or systemMessageFrom must be set"
    );
    let keyless = AGENT.replace("SPEC", "{type: Declarative, declarative: {modelConfig: m, systemMessageFrom: {type: Secret, name: keys, key: none}}}");
    assert_eq!(
        said(&(model.clone() + &keyless)),
        "Secret n/keys has no key \"none\""
    );
    let odd = AGENT.replace("SPEC", "{type: Declarative, declarative: {systemMessage: hi, modelConfig: m, tools: [{type: McpServer, mcpServer: {name: x, kind: Pod}}]}}");
    assert_eq!(
        said(&(model + &odd)),
        "tool server type \"Pod\" is not known"
    );
}

#[test]
fn requests_go_by_way_of_the_proxy_inside_the_cluster_only() {
    let golden = "\
targetObject: a
namespace: 'n'
proxyURL: http://gate:9
objects:
- {apiVersion: kagent.dev/v1alpha2, kind: ModelConfig, metadata: {name: m, namespace: n}, spec: {provider: OpenAI, model: g}}
- {apiVersion: kagent.dev/v1alpha2, kind: RemoteMCPServer, metadata: {name: inside, namespace: n}, spec: {description: d, url: 'http://t.tools:80/p?q=1', protocol: SSE, timeout: 1500ms, terminateOnClose: false}}
- {apiVersion: kagent.dev/v1alpha2, kind: RemoteMCPServer, metadata: {name: outside, namespace: n}, spec: {description: d, url: 'https://a.b.example/p', terminateOnClose: false}}
- {apiVersion: v1, kind: Service, metadata: {name: s, namespace: n}, spec: {ports: [{port: 1}, {port: 2, appProtocol: MCP}]}}
- {apiVersion: kagent.dev/v1alpha2, kind: Agent, metadata: {name: b, namespace: n}, spec: {type: BYO, description: d, byo: {deployment: {image: i}}}}
- apiVersion: kagent.dev/v1alpha2
  kind: Agent
  metadata: {name: a, namespace: n}
  spec:
    type: Declarative
    declarative:
      systemMessage: hi
      modelConfig: m
      tools:
      - {mcpServer: {name: inside, kind: RemoteMCPServer, toolNames: [x], allowedHeaders: [h]}}
      - {mcpServer: {name: outside, kind: RemoteMCPServer}}
      - {mcpServer: {name: s, kind: Service}}
      - {agent: {name: b}}
";
    let translation = translated(golden);
    let config = file(&translation, "config.json");
    let tools = r#""http_tools":[{"params":{"url":"https://a.b.example/p","headers":{},"terminate_on_close":false}},{"params":{"url":"http://gate:9/mcp","headers":{"x-kagent-host":"s.n"}}}],"sse_tools":[{"params":{"url":"http://gate:9/p","headers":{"x-kagent-host":"t.tools"},"timeout":1.5},"tools":["x"],"allowed_headers":["h"]}],"remote_agents":[{"name":"n__NS__b","url":"http://gate:9","headers":{"x-kagent-host":"b.n"},"description":"d"}]"#;
    assert!(config.contains(tools), "{config}");
}
